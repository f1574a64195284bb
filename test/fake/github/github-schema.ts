import { readFileSync } from 'node:fs';
import { buildSchema, type DocumentNode, type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';

/** GitHub's public GraphQL schema; built once a process. */
export function githubSchema(): GraphQLSchema {
  schema ??= buildSchema(
    readFileSync(new URL('schema.graphql', import.meta.resolve('@octokit/graphql-schema')), 'utf8'),
    {
      assumeValidSDL: true,
      assumeValid: true,
    },
  );
  return schema;
}

let schema: GraphQLSchema | undefined;

const checked = new Map<string, { readonly document: DocumentNode; readonly errors: readonly GraphQLError[] }>();

/** Parsed and validated once a text. */
export function checkDocument(text: string): {
  readonly document: DocumentNode;
  readonly errors: readonly GraphQLError[];
} {
  const known = checked.get(text);
  if (known !== undefined) return known;
  const document = parse(text);
  const found = { document, errors: validate(githubSchema(), document) };
  checked.set(text, found);
  return found;
}
