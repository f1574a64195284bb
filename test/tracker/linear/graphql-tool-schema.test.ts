import { readFileSync } from 'node:fs';
import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLInputField,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { narrowDocument } from '../../../src/tracker/linear/graphql-tool/narrow-document.ts';
import { projectSchema } from '../../../src/tracker/linear/graphql-tool/project-schema.ts';
import { scopeRead } from '../../../src/tracker/linear/graphql-tool/verify-named.ts';
import { linearSchema, validateDocument } from '../../fake/linear/linear-schema.ts';

const types = Object.values(projectSchema().getTypeMap()).filter((type) => !isIntrospectionType(type));
const nameAtLinear = (name: string): string => (name === 'IssueElsewhere' ? 'Issue' : name);
const written = (type: unknown): string => String(type).replace('IssueElsewhere', 'Issue');
/** Ours may be required where Linear's is optional. */
const isSameOrStricter = (ours: unknown, theirs: unknown): boolean =>
  written(ours) === String(theirs) || written(ours) === `${theirs}!`;

type Definition = GraphQLArgument | GraphQLInputField;
const marksOf = ({ astNode }: Definition): readonly string[] =>
  (astNode?.directives ?? []).map(({ name }) => name.value);

const namesIn = (type: GraphQLEnumType): string[] => type.getValues().map(({ name }) => name);

/** Ours are among Linear's, and none that Linear requires is missing. */
function expectPart(place: string, ours: readonly Definition[], theirs: readonly Definition[]): void {
  for (const { name, type } of ours) {
    const other = theirs.find((each) => each.name === name)?.type;
    expect(isSameOrStricter(type, other), `${place}.${name}: ${type} and ${other}`).toBe(true);
  }
  const needed = theirs.filter(({ type }) => isNonNullType(type)).map(({ name }) => name);
  expect(ours.map(({ name }) => name)).toEqual(expect.arrayContaining(needed));
}

/** Every argument and every input field, with its place. */
const definitions = types.flatMap((type): (readonly [string, Definition])[] => {
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((each) => [`${type.name}.${each.name}`, each] as const);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) =>
    field.args.map((each) => [`${type.name}.${field.name}.${each.name}`, each] as const),
  );
});

describe('the schema for documents inside the project', () => {
  it.each(types.map((type) => [type.name, type] as const))(
    'has only fields of %s that Linear has, with the same types',
    (name, type) => {
      const theirs = linearSchema().getType(nameAtLinear(name));
      if (isScalarType(type)) expect(isScalarType(theirs)).toBe(true);
      else if (isEnumType(type) && isEnumType(theirs))
        expect(namesIn(theirs)).toEqual(expect.arrayContaining(namesIn(type)));
      else if (isInputObjectType(type) && isInputObjectType(theirs)) {
        expectPart(name, Object.values(type.getFields()), Object.values(theirs.getFields()));
      } else if (isObjectType(type) && isObjectType(theirs)) {
        for (const field of Object.values(type.getFields())) {
          const other = theirs.getFields()[field.name];
          expect(written(field.type), `${name}.${field.name}`).toBe(String(other?.type));
          expectPart(`${name}.${field.name}`, field.args, other?.args ?? []);
        }
      } else throw new Error(`${name} is something else at Linear`);
    },
  );

  it('marks every argument that names something, except names that Linear ties to the issue itself', () => {
    const open = definitions
      .filter(
        ([place, each]) => /(?:^id|Ids?)$/.test(each.name) && marksOf(each).length === 0 && !place.includes('Filter.'),
      )
      .map(([place]) => place)
      .toSorted();
    expect(open).toEqual(['IssueCreateInput.assigneeId', 'IssueUpdateInput.assigneeId', 'IssueUpdateInput.stateId']);
  });

  it('narrows every list of issues, and reaches single issues only by a verified name or as an issue elsewhere', () => {
    const payloads = ['IssuePayload.issue', 'IssueConnection.nodes', 'IssueEdge.node'];
    for (const type of types.filter(isObjectType)) {
      for (const field of Object.values(type.getFields())) {
        const place = `${type.name}.${field.name}`;
        const to = getNamedType(field.type).name;
        if (to === 'IssueConnection')
          expect([place, marksOf(field.args.find(({ name }) => name === 'filter') as Definition)]).toEqual([
            place,
            ['inProject'],
          ]);
        if (to === 'Issue' && !payloads.includes(place)) expect(place).toBe('Query.issue');
      }
    }
    const elsewhere = projectSchema().getType('IssueElsewhere');
    expect(isObjectType(elsewhere) && Object.keys(elsewhere.getFields())).toEqual(['id', 'identifier', 'state']);
  });

  it('leads no further from people, states, labels and the filer of an issue', () => {
    for (const name of [
      'User',
      'WorkflowState',
      'ActorBot',
      'ExternalUser',
      'Cycle',
      'ProjectMilestone',
      'UploadFileHeader',
    ]) {
      const type = projectSchema().getType(name);
      if (!isObjectType(type)) throw new Error(name);
      for (const field of Object.values(type.getFields()))
        expect(isScalarType(getNamedType(field.type)), `${name}.${field.name}`).toBe(true);
    }
  });

  it('verifies names with a document that Linear accepts, for any names', () => {
    const name = { name: '00000000-0000-4000-8000-000000000001' };
    for (const kinds of [[], ['issue'], ['comment'], ['issue', 'comment', 'issue', 'issueLabel']] as const) {
      const { operation } = scopeRead(
        kinds.map((kind) => ({ kind, ...name })),
        'baton',
      );
      expect(validateDocument(operation.text)).toEqual([]);
    }
  });
});

describe('the examples in the documentation of linear_graphql', () => {
  const page = readFileSync(new URL('../../../docs/trackers/linear.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```graphql\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block.trim().split(/\n\n+/),
  );

  it('exist', () => expect(examples.length).toBeGreaterThan(6));

  it.each(examples.map((text) => [text]))('are valid for Linear and stay inside the project: %s', (text) => {
    expect(validateDocument(text)).toEqual([]);
    const variables = {
      id: 'BAT-1',
      projectId: 'x',
      teamId: 'x',
      stateId: 'x',
      commentId: 'x',
      body: 'x',
      url: 'x',
      text: 'x',
      title: 'x',
    };
    expect(narrowDocument(text, variables, 'baton', () => 'new')).toHaveProperty('query');
  });
});
