import { type Static, type TObject, type TSchema, type TUnsafe, Type } from "typebox";
import { isObject } from "./object.js";

const NULL = { type: "null" };

const orNull = (schema: TSchema): TSchema => {
  const { type, anyOf, ...rest } = schema as { readonly type?: string; readonly anyOf?: readonly object[] };
  if (anyOf) return { ...rest, anyOf: [...anyOf, NULL] };
  return { ...rest, type: [type, "null"] };
};

const isOptional = ({ properties, required }: TObject, field: string): boolean =>
  Object.hasOwn(properties, field) && !(required as readonly string[] | undefined)?.includes(field);

/** A body whose optional fields may be null, which means left out: `withoutNulls` leaves them out. */
export const NullsLeftOut = <T extends TObject>(schema: T): TUnsafe<Static<T>> => {
  const properties = Object.entries<TSchema>(schema.properties).map(([field, property]) => [
    field,
    isOptional(schema, field) ? orNull(property) : property,
  ]);
  return Type.Unsafe<Static<T>>({ ...schema, properties: Object.fromEntries(properties) });
};

/** The body without its optional fields that are null; what is no object stays as it is. */
export const withoutNulls = (schema: TObject, body: unknown): unknown =>
  isObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([field, value]) => value !== null || !isOptional(schema, field)))
    : body;
