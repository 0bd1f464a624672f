import type { InputHTMLAttributes, SelectHTMLAttributes } from "react";
import { plain } from "../text/plain.js";

/** Words by which a list is searched; `hint`: whose. */
export function Search({ hint, ...field }: InputHTMLAttributes<HTMLInputElement> & { readonly hint: string }) {
  return <input type="search" className="search" placeholder={`Search: words of the ${hint}`} maxLength={256} {...field} />;
}

/** One of some values, each with what a person reads. */
export function Choice({
  options,
  ...field
}: SelectHTMLAttributes<HTMLSelectElement> & { readonly options: readonly (readonly [value: string, text: string])[] }) {
  return (
    <select {...field}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {plain(text)}
        </option>
      ))}
    </select>
  );
}
