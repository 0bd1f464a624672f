import type { Page } from "playwright-core";

/** Drops a file on an element as a person's file manager does. */
export const dropFile = async (
  page: Page,
  selector: string,
  { name, content }: { readonly name: string; readonly content: string },
): Promise<void> => {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    return transfer;
  })()`);
  for (const type of ["dragenter", "dragover", "drop"]) await page.dispatchEvent(selector, type, { dataTransfer });
};
