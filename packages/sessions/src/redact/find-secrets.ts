import { findAccounts, isAccount } from "./accounts.js";
import { findAddresses } from "./addresses.js";
import { findChance } from "./chance.js";
import { findCommands } from "./commands.js";
import { findHeaders } from "./headers.js";
import { type Finder, type Hit, merged } from "./hit.js";
import { findInserts } from "./inserts.js";
import { findKeyBlocks } from "./key-blocks.js";
import { findMarked } from "./marked.js";
import { findNamed } from "./named.js";
import { scanOf } from "./scan.js";
import { findColumns } from "./tables.js";
import { findTokens } from "./tokens.js";
import { viewOf } from "./view.js";
import { findWallets } from "./wallets.js";

/** In the order of their say: where two find the same text the earlier one names it. */
const FINDERS: readonly Finder[] = [
  findKeyBlocks,
  findWallets,
  findTokens,
  findMarked,
  findAddresses,
  findHeaders,
  findCommands,
  findNamed,
  findColumns,
  findInserts,
  findChance,
];

/** The secrets and the account names of a text in order, none overlapping another. */
export function findSecrets(text: string): readonly Hit[] {
  const view = viewOf(text);
  const scan = scanOf(view.text);
  const found: Hit[] = [];
  for (const find of FINDERS)
    for (const { start, end, kind } of find(scan)) {
      const [from, to] = view.original(start, end);
      found.push({ start: from, end: to, kind });
    }
  // Backslashes of Windows paths are escapes in JSON only: accounts are looked for in the text itself.
  found.push(...findAccounts({ text, bytes: scan.bytes }));
  return merged(found).filter(({ start, end, kind }) => isAccount(kind) || !/^<SECRET:[^>]*>?$/.test(text.slice(start, end)));
}
