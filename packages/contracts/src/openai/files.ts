import { Type } from "typebox";
import { Strict } from "../object.js";
import { After } from "./list.js";

/** An uploaded file, as OpenAI's clients read it. */
export const FileObject = Strict({
  id: Type.String(),
  object: Type.Literal("file"),
  bytes: Type.Integer(),
  created_at: Type.Integer(),
  filename: Type.String(),
  purpose: Type.Literal("fine-tune"),
  status: Type.Literal("processed"),
});

export const FileQuery = Strict({
  after: After,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 10_000 })),
  order: Type.Optional(Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "desc" })),
  purpose: Type.Optional(Type.Literal("fine-tune")),
});

export const FileDeleted = Strict({ id: Type.String(), object: Type.Literal("file"), deleted: Type.Literal(true) });
