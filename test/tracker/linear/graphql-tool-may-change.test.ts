import fc from 'fast-check';
import { Kind, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { toolScene } from './graphql-tool-scene.ts';

const change = 'mutation { issueUpdate(id: "BAT-1", input: { stateId: "s" }) { success } }';
const { tool } = toolScene();
const mayChange = (query: string): boolean => tool.mayChange?.({ query }) ?? expect.fail('it says so');

/** Text without meaning that may stand between two words of a document. */
const nothing = fc.constantFrom('', ' ', ',', '\n', '\t', '\ufeff', '# a comment\n', '#mutation\r');
const part = fc.constantFrom(
  ...[change, 'mutation{issueUpdate{success}}', 'mutation Named($a: ID!){ issueUpdate(id: $a) { success } }'],
  ...['mutation @x { a }', 'fragment F on Issue { id }', 'query Q { viewer { id } }', '{ viewer { id } }'],
  ...['subscription S { a }', 'query mutations { a(text: "mutation") }', 'query Q { mutationX _mutation }'],
);

describe('whether linear_graphql may change something', () => {
  it.each([
    change,
    `,${change}`,
    `fragment F on Issue { id },${change}`,
    `#comment\r${change}`,
    `{a(b:"x")}${change}`,
    `\ufeff${change}`,
    'mutation@x{a}',
  ])('is true for %j', (query) => {
    expect(mayChange(query)).toBe(true);
    expect(tool.mayChange?.(query)).toBe(true);
  });

  it('is false for a query', () => {
    expect(mayChange('query Mine { issues { nodes { identifier } } }')).toBe(false);
    expect(mayChange('{ __schema { mutationType { name } } }')).toBe(false);
    for (const input of [null, 5, {}, { query: '' }, { query: 7 }]) expect(tool.mayChange?.(input)).toBe(false);
  });

  // @conforms tools.22
  it('is true for every document in which a parser finds a mutation', () => {
    let changes = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(nothing, part, nothing), { minLength: 1, maxLength: 4 }), (parts) => {
        const query = parts.flat().join('');
        const { definitions } = parsed(query);
        const isChange = definitions.some(
          (each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'mutation',
        );
        if (isChange) changes += 1;
        if (isChange) expect(mayChange(query)).toBe(true);
      }),
    );
    expect(changes).toBeGreaterThan(0);
  });
});

function parsed(query: string): { readonly definitions: ReturnType<typeof parse>['definitions'] } {
  try {
    return parse(query);
  } catch {
    return { definitions: [] };
  }
}
