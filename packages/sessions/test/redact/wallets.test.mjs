import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../src/redact/find-secrets.js";
import { drawer } from "./corpus/draw.mjs";
import { moreValues } from "./corpus/others/values.mjs";

const textsIn = (text) => findSecrets(text).map((hit) => text.slice(hit.start, hit.end));
const drawn = (seed) => moreValues(drawer("wallets", String(seed)));
const swap = (text, at, sign) => text.slice(0, at) + sign + text.slice(at + 1);

describe("keys of wallets", () => {
  it("are found by their checksum, of whatever coin, and not with a wrong one", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 120, max: 250 }), fc.boolean(), (seed, version, isCompressed) => {
        const key = drawn(seed).wif(version, isCompressed);
        expect(textsIn(`it is ${key}, he said`)).toEqual([key]);
      }),
    );
    const key = drawn(1).wif(176, true);
    expect(textsIn(`it is ${swap(key, 20, key[20] === "a" ? "b" : "a")}, he said`)).toEqual([]);
  });

  it("are no addresses, and of extended keys the private ones", () => {
    const { address, extended } = drawn(2);
    expect(textsIn(`pay to ${address()}`)).toEqual([]);
    const key = extended("04358394");
    expect(textsIn(`wpkh(${key}/0/*)`)).toEqual([key]);
  });
});

describe("seed phrases", () => {
  it("are found however they are divided", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.constantFrom(12, 15, 18, 21, 24),
        fc.constantFrom(" ", "\n", ", ", '", "', "\r\n", "   "),
        (seed, count, divider) => {
          const phrase = drawn(seed).mnemonic(count).replaceAll(" ", divider);
          expect(textsIn(`It is: ${phrase}`)).toEqual([phrase]);
        },
      ),
    );
  });

  it("are none where the checksum is wrong, or words are repeated as code repeats names", () => {
    const words = drawn(3).mnemonic(12).split(" ");
    expect(textsIn(`It is: ${[...words.slice(1), words[0]].join(" ")}`)).toEqual([]);
    expect(textsIn(`${"abandon ".repeat(11)}about`)).toEqual([]);
  });
});
