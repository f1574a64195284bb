import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../property-runs.ts';
import { type ToolScene, toolScene } from './graphql-tool-scene.ts';

/**
 * Random documents that follow allowed and forbidden fields of Linear. Every issue, comment and attachment outside the
 * project contains a canary.
 */
const ways: Readonly<
  Record<string, readonly [leaves: readonly string[], ways: readonly (readonly [string, string])[]]>
> = {
  Issue: [
    ['id', 'title', 'description', 'identifier'],
    [
      ['state', 'WorkflowState'],
      ['team', 'Team'],
      ['project', 'Project'],
      ['parent', 'Issue'],
      ['assignee', 'User'],
      ['creator', 'User'],
      ['children', 'Issue*'],
      ['comments', 'Comment*'],
      ['attachments', 'Attachment*'],
      ['relations', 'IssueRelation*'],
      ['inverseRelations', 'IssueRelation*'],
    ],
  ],
  Comment: [
    ['id', 'body'],
    [
      ['issue', 'Issue'],
      ['user', 'User'],
    ],
  ],
  Attachment: [['id', 'title'], [['issue', 'Issue']]],
  IssueRelation: [
    ['id', 'type'],
    [
      ['issue', 'Issue'],
      ['relatedIssue', 'Issue'],
    ],
  ],
  WorkflowState: [
    ['id', 'name'],
    [
      ['issues', 'Issue*'],
      ['team', 'Team'],
    ],
  ],
  Team: [
    ['id', 'key'],
    [
      ['issues', 'Issue*'],
      ['states', 'WorkflowState*'],
    ],
  ],
  Project: [
    ['id', 'slugId'],
    [
      ['issues', 'Issue*'],
      ['teams', 'Team*'],
    ],
  ],
  User: [['id', 'name'], [['assignedIssues', 'Issue*']]],
};

/** Inside, then outside. */
const issueNames = ['BAT-1', 'bat-2', '$inside', 'BAT-3', 'ops-1', '$outside', '$nowhere'];
const filters = [
  '',
  '(filter: { title: { neq: "" } })',
  '(filter: null)',
  '(filter: $filter)',
  '(filter: { or: [{ number: { gt: 0 } }, { title: { eq: "CANARY" } }] })',
];

function selection(type: string, depth: number): fc.Arbitrary<string> {
  const [leaves, further] = ways[type] ?? [[], []];
  const leaf = fc.constantFrom(...leaves);
  const parts =
    depth === 0 || further.length === 0
      ? leaf
      : fc.oneof(
          leaf,
          leaf,
          fc.constantFrom(...further).chain(([field, to]) => step(field, to, depth - 1)),
        );
  const list = fc.array(parts, { minLength: 1, maxLength: 3 }).map((each) => each.join(' '));
  return fc.oneof(
    { weight: 4, arbitrary: list },
    { weight: 1, arbitrary: list.map((each) => `... on ${type} { ${each} }`) },
  );
}

let aliases = 0;
function step(field: string, to: string, depth: number): fc.Arbitrary<string> {
  const isList = to.endsWith('*');
  const type = to.replace('*', '');
  const filter = to === 'Issue*' ? fc.constantFrom(...filters) : fc.constant('');
  return fc.tuple(selection(type, depth), filter, fc.boolean()).map(([inner, filtered, isEdge]) => {
    aliases += 1;
    const body = !isList ? inner : isEdge ? `edges { node { ${inner} } }` : `nodes { ${inner} }`;
    return `w${aliases}: ${field}${filtered} { ${body} }`;
  });
}

const rootIssue = fc.tuple(fc.constantFrom(...issueNames), selection('Issue', 3)).map(([name, inner]) => {
  aliases += 1;
  return `r${aliases}: issue(id: ${name.startsWith('$') ? name : `"${name}"`}) { ${inner} }`;
});
const query = fc
  .array(fc.oneof(rootIssue, rootIssue, step('issues', 'Issue*', 2), step('viewer', 'User', 1)), {
    minLength: 1,
    maxLength: 2,
  })
  .map((parts) => `{ ${parts.join(' ')} }`);
const change = fc
  .tuple(fc.constantFrom(...issueNames), fc.constantFrom(...issueNames), fc.nat(3), selection('Issue', 2))
  .map(([one, other, which, inner]) => {
    const [a, b] = [one, other].map((name) => (name.startsWith('$') ? name : `"${name}"`));
    const said = [
      `issueUpdate(id: ${a}, input: { title: "changed", parentId: ${b} }) { success issue { ${inner} } }`,
      `commentCreate(input: { issueId: ${a}, body: "changed" }) { comment { issue { ${inner} } } }`,
      `attachmentLinkURL(issueId: ${a}, url: "https://changed.test") { attachment { issue { ${inner} } } }`,
      `issueRelationCreate(input: { issueId: ${a}, relatedIssueId: ${b}, type: related }) { success }`,
    ];
    return `mutation { ${said[which]} }`;
  });

function world(): ToolScene & {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly outside: () => string;
} {
  const made = toolScene();
  const { linear } = made;
  // The limit on the number of names has its own test.
  Object.assign(linear.limits, { complexityPerRequest: 1e12, complexityPerWindow: 1e12 });
  const inside = linear.addIssue({ title: 'Inside', assignee: 'Someone' });
  linear.addIssue({ title: 'Sibling', parent: inside.id });
  const canary = { title: 'CANARY', description: 'CANARY', assignee: 'Someone' };
  const outside = linear.addIssue({ ...canary, project: 'other' });
  const nowhere = linear.addIssue({ ...canary, project: null, team: 'OPS', parent: inside.id });
  linear.relate(outside.id, inside.id);
  linear.relate(inside.id, nowhere.id, { type: 'related' });
  linear.updateIssue(inside.id, { parent: outside.id });
  for (const { id } of [outside, nowhere]) {
    linear.addComment({ issue: id, body: 'CANARY' });
    linear.attach({ issue: id, url: 'https://canary.test', title: 'CANARY' });
  }
  const relations = linear.records.relations.size;
  return {
    ...made,
    variables: { inside: inside.id, outside: outside.id, nowhere: nowhere.id, filter: { title: { neq: 'x' } } },
    outside: () => {
      const touching = [...linear.records.relations.values()]
        .slice(relations)
        .flatMap((each) => [each.issueId, each.relatedIssueId]);
      const others = [outside.id, nowhere.id];
      const facts = others.map((id) => [linear.issue(id), linear.commentsOf(id), linear.attachmentsOf(id)]);
      return JSON.stringify([facts, touching.filter((id) => others.includes(id))]);
    },
  };
}

describe('any document of an agent', () => {
  // @conforms tools.6
  it('reads nothing from outside the project, and changes nothing there', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(query, query, change), fc.boolean(), async (text, isDeclared) => {
        const { ask, linear, variables, outside } = world();
        const before = outside();
        const used = Object.keys(variables).filter((name) => text.includes(`$${name}`));
        const types: Readonly<Record<string, string>> = { filter: 'IssueFilter' };
        const declared = used.map((name) => {
          const isDefault = isDeclared && name !== 'filter';
          return `$${name}: ${types[name] ?? 'String!'}${isDefault ? ` = "${variables[name]}"` : ''}`;
        });
        const kind = text.startsWith('mutation') ? 'mutation' : 'query';
        const head = `${kind} Q${declared.length === 0 ? '' : `(${declared.join(', ')})`}`;
        const given = isDeclared ? { filter: variables.filter } : variables;
        const { success, said } = await ask({ query: `${head} ${text.replace(/^mutation /, '')}`, variables: given });
        expect(JSON.stringify(said)).not.toContain('CANARY');
        expect(outside()).toBe(before);
        expect(linear.complaints).toEqual([]);
        if (success) passed += 1;
        // A document that Linear itself would reject would prove nothing.
        else expect(said.error?.code, JSON.stringify(said)).toBe('tool_scope');
      }),
      { numRuns: runs(400) },
    );
    expect(passed).toBeGreaterThan(runs(400) / 10);
  }, 60_000);

  it('gets an answer', async () => {
    const { tool } = toolScene();
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '(',
        ')',
        'issue',
        'issues',
        'id:',
        '"BAT-1"',
        '$a',
        '...',
        'on',
        'Issue',
        'query',
        'mutation',
        'fragment',
        'filter:',
        'nodes',
        '@skip(if: true)',
        '"""',
        '\\u',
        '#',
        ':',
        '!',
        '&',
        '[',
        ']',
      ),
      { maxLength: 30 },
    );
    const input = fc.oneof(
      fc.anything(),
      fc.string(),
      pieces.map((each) => each.join(' ')),
      fc.record({ query: pieces.map((each) => `{ ${each.join(' ')} }`), variables: fc.anything() }),
    );
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        const { success, output } = await tool.call(given, {});
        expect(typeof success).toBe('boolean');
        expect(() => JSON.parse(output)).not.toThrow();
      }),
      { numRuns: runs(300) },
    );
  });
});
