import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema, type DocumentNode, type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { rebuildSdl } from './linear-sdl.ts';

/** Linear's schema as the installed `@linear/sdk` knows it; built once a process. */
export function linearSchema(): GraphQLSchema {
  schema ??= buildSchema(rebuildSdl(sdkDeclarations()));
  return schema;
}

let schema: GraphQLSchema | undefined;

/** Linear's validation errors for a document, in its order; empty if it is valid. */
export function validateDocument(text: string): readonly string[] {
  return checkDocument(text).errors.map((error) => error.message);
}

export interface CheckedDocument {
  /** Null: it is not even GraphQL. */
  readonly document: DocumentNode | null;
  readonly errors: readonly GraphQLError[];
}

const checked = new Map<string, CheckedDocument>();

/** Parsed and validated once a text. */
export function checkDocument(text: string): CheckedDocument {
  const before = checked.get(text);
  if (before !== undefined) return before;
  const found = check(text);
  checked.set(text, found);
  return found;
}

function check(text: string): CheckedDocument {
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch (error) {
    // `parse` throws nothing else.
    return { document: null, errors: [error as GraphQLError] };
  }
  return { document, errors: validate(linearSchema(), document) };
}

/** The one file of declarations that holds the schema's types; its name changes with every version. */
function sdkDeclarations(): string {
  const folder = new URL('.', import.meta.resolve('@linear/sdk'));
  for (const name of readdirSync(fileURLToPath(folder))) {
    if (!name.endsWith('.d.mts')) continue;
    const text = readFileSync(new URL(name, folder), 'utf8');
    if (text.includes('\ntype QueryIssuesArgs = {')) return text;
  }
  throw new Error('No types of the schema in @linear/sdk.');
}
