/** A page of the entries that follow; `following` may hold more than the page. */
export const pageOf = <T extends { readonly id: string }>(following: readonly T[], limit = 20) => {
  const data = following.slice(0, limit);
  return {
    object: "list",
    data: [...data],
    has_more: following.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  } as const;
};

export const seconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);
