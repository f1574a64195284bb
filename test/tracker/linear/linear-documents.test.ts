import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { mostComments } from '../../../src/tracker/latest-comments.ts';
import * as documents from '../../../src/tracker/linear/call/documents.ts';
import { complexityOf } from '../../fake/linear/complexity.ts';
import { linearSchema, validateDocument } from '../../fake/linear/linear-schema.ts';

const operations = Object.values(documents).filter((each) => typeof each === 'object' && 'text' in each);

/** The largest numbers that the adapter sends with an operation. */
const largest: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  BatonCandidates: { first: 50, ...documents.usualLists },
  BatonIssuesById: { first: 50, ...documents.usualLists },
  BatonFullRead: { first: 50, ridingFirst: 10, ...documents.shortLists },
  BatonChanges: { first: 40, ridingFirst: 10, ...documents.shortLists },
  BatonMoreChanges: { first: 40, ...documents.shortLists },
  BatonIssueComments: { commentFirst: mostComments },
  BatonMoveIssue: { ...documents.longLists },
};

function cost({ text }: documents.Operation, variables: Readonly<Record<string, number>>): number {
  const { definitions } = parse(text);
  const operation = definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  if (operation === undefined) throw new Error('no operation');
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  return complexityOf({
    schema: linearSchema(),
    operation,
    fragments: new Map(fragments.map((each) => [each.name.value, each])),
    variables,
  });
}

describe('the operations that Baton sends to Linear', () => {
  it('exist', () => {
    expect(operations.length).toBeGreaterThan(10);
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  });

  // @conforms linear.24
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s is valid by the real schema',
    (name, { text }) => {
      expect(validateDocument(text)).toEqual([]);
      expect(text).toMatch(new RegExp(`^(?:query|mutation) ${name}\\b`));
    },
  );

  it.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s stays well below the points that Linear allows',
    (name, operation) => {
      expect(cost(operation, largest[name] ?? {})).toBeLessThan(9_500);
    },
  );

  it('read issues with long lists again below that limit too', () => {
    const variables = { first: documents.longListsBatch, ...documents.longLists };
    expect(cost(documents.issuesByIdOperation, variables)).toBeLessThan(9_500);
  });

  it('use in a poll at most a third of the points of a page of the reference', () => {
    const reference = cost(
      {
        name: 'SymphonyLinearPoll',
        text: `query SymphonyLinearPoll($first: Int!, $relationFirst: Int!) { issues(first: $first) {
          nodes { id identifier title description priority state { name } branchName url assignee { id }
            labels { nodes { name } }
            inverseRelations(first: $relationFirst) { nodes { type issue { id identifier state { name } } } }
            createdAt updatedAt } pageInfo { hasNextPage endCursor } } }`,
      },
      { first: 50, relationFirst: 50 },
    );
    expect(cost(documents.changesOperation, largest.BatonChanges ?? {}) * 3).toBeLessThan(reference);
    expect(cost(documents.fullReadOperation, largest.BatonFullRead ?? {}) * 3).toBeLessThan(reference);
  });
});
