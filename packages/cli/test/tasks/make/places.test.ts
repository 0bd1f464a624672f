import { expect, test } from "vitest";
import { folderIn } from "../../../src/tasks/make/places.js";

test.each<[what: string, folder: string, texts: readonly string[], written: string]>([
  ["its account goes by a stand-in", "/Users/paulina/src/shop", ["/Users/dev/src/shop/a.ts"], "/Users/dev/src/shop"],
  ["several accounts do", "/home/paulina/shop", ["/home/dev/other", "cd /home/dev2/shop"], "/home/dev2/shop"],
  ["its account is nobody's", "/home/ubuntu/shop", ["/home/dev/shop", "/home/ubuntu/shop"], "/home/ubuntu/shop"],
  ["only a longer name is written", "/home/paulina/shop", ["/home/dev/shop-2", "/home/dev/shop.old"], "/home/paulina/shop"],
  ["a name means something in patterns", "/home/paulina/c++ (1)", ["/home/dev/c++ (1)/x"], "/home/dev/c++ (1)"],
  ["it is no home", "/workspace/shop", ["/home/dev/shop"], "/workspace/shop"],
])("the folder is as the texts write it where %s", (_what, folder, texts, written) => {
  expect(folderIn(texts, folder)).toBe(written);
});
