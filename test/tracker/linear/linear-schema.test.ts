import { validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { linearSchema, validateDocument } from '../../fake/linear/linear-schema.ts';
import { rebuildSdl } from '../../fake/linear/linear-sdl.ts';

describe('the schema of Linear, rebuilt from the types of its SDK', () => {
  test('is a complete and valid schema', () => {
    expect(validateSchema(linearSchema())).toEqual([]);
    // Linear has more than a thousand types; a reader that loses some still returns a valid schema.
    expect(Object.keys(linearSchema().getTypeMap()).length).toBeGreaterThan(1000);
  });

  test.each([
    ['Issue', 'inverseRelations', 'IssueRelationConnection!'],
    ['Issue', 'assignee', 'User'],
    ['Issue', 'priority', 'Float!'],
    ['IssueConnection', 'nodes', '[Issue!]!'],
    ['Mutation', 'issueUpdate', 'IssuePayload!'],
  ])('keeps the type and the nullability of %s.%s', (type, field, expected) => {
    const found = linearSchema().getType(type);
    expect(found !== undefined && 'getFields' in found && String(found.getFields()[field]?.type)).toBe(expected);
  });

  test('keeps the arguments of a field', () => {
    const issues = linearSchema().getQueryType()?.getFields().issues;
    expect(issues?.args.map(({ name, type }) => `${name}: ${type}`)).toEqual(
      expect.arrayContaining(['filter: IssueFilter', 'first: Int', 'orderBy: PaginationOrderBy']),
    );
  });

  test.each([
    ['a poll', 'query($p: String!) { issues(filter: { project: { slugId: { eq: $p } } }) { nodes { id } } }'],
    ['ids', 'query($ids: [ID!]!) { issues(filter: { id: { in: $ids } }) { nodes { id } } }'],
    ['a type by its name at Linear', 'query($id: IDComparator!) { teams(filter: { id: $id }) { nodes { id } } }'],
    ['a time', 'query($t: DateTimeOrDuration!) { issues(filter: { updatedAt: { gte: $t } }) { nodes { id } } }'],
    ['a change', 'mutation($i: IssueUpdateInput!) { issueUpdate(id: "1", input: $i) { success } }'],
    ['a fragment on an interface', '{ issue(id: "1") { ...A } } fragment A on Node { id }'],
  ])('accepts %s', (_, document) => {
    expect(validateDocument(document)).toEqual([]);
  });

  // @conforms linear.24
  test.each([
    ['a field that there is not', '{ issue(id: "1") { blockedBy } }', 'blockedBy'],
    ['a filter that there is not', '{ issues(filter: { project: { slug: { eq: "x" } } }) { nodes { id } } }', 'slug'],
    [
      'a state by its name in a change',
      'mutation { issueUpdate(id: "1", input: { stateName: "x" }) { success } }',
      'stateName',
    ],
    ['a variable of the wrong type', 'query($f: String) { issues(first: $f) { nodes { id } } }', '$f'],
    ['ids that may be null', 'query($ids: [ID]) { issues(filter: { id: { in: $ids } }) { nodes { id } } }', '$ids'],
    ['an order that there is not', '{ issues(orderBy: priority) { nodes { id } } }', 'priority'],
    ['a missing argument', '{ issue { id } }', 'id'],
    ['an object without its parts', '{ issue(id: "1") { state } }', 'state'],
    ['a comparator of another type', '{ issues(filter: { title: { gt: "a" } }) { nodes { id } } }', 'gt'],
    ['what is not GraphQL', 'query {', 'Syntax Error'],
  ])('refuses %s', (_, document, word) => {
    expect(validateDocument(document).join(' ')).toContain(word);
  });
});

describe('the reader of declarations', () => {
  const scalars =
    'type Scalars = {\n  ID: string;\n};\ntype Mutation = {\n  __typename?: "Mutation";\n  a: Scalars["ID"];\n};\n';
  const query = (type: string) => `type Query = {\n  __typename?: "Query";\n  thing: ${type};\n};\n`;

  // @conforms linear.25
  test.each([
    ['Promise<Thing>', 'Promise<Thing>'],
    ['"a" | "b"', '"a" | "b"'],
    ['Thing', 'Thing'],
  ])('fails rather than leaves out a field of type %s', (type, told) => {
    expect(() => rebuildSdl(scalars + query(type))).toThrow(told);
  });

  test('leaves out types that neither a query nor a mutation reaches', () => {
    const other = 'type Other = {\n  __typename?: "Other";\n  id: Promise<string>;\n};\n';
    expect(rebuildSdl(scalars + query('Maybe<Array<Scalars["ID"]>>') + other)).toBe(
      'type Mutation {\n  a: ID!\n}\n\ntype Query {\n  thing: [ID!]\n}',
    );
  });

  test('fails on other declarations', () => {
    expect(() => rebuildSdl('type Query = {\n};\n')).toThrow('@linear/sdk');
  });
});
