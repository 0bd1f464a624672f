/** What to know before the start, one sentence each. */
export function Remarks({ remarks }: { readonly remarks: readonly string[] }) {
  return remarks.map((remark) => (
    <p key={remark} className="notice">
      {remark}
    </p>
  ));
}
