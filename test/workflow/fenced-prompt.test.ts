import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/core/issue/issue.ts';
import { fenceRule, fenceState } from '../../src/core/text/fence.ts';
import { tryTemplates } from '../../src/workflow/template/try-templates.ts';
import { anyCharacter } from '../any-character.ts';
import { runs } from '../property-runs.ts';
import { given, givenIssue } from './given.ts';

const mark = '2f6c0d1e-77aa-4b1c-8d2e-0123456789ab';
const rule = `${fenceRule(mark)}\n\n`;
const inFence = (text: string): string => {
  const gap = text.includes('\n') ? '\n' : ' ';
  return `BEGIN-${mark}${gap}${text}${gap}END-${mark}`;
};

function prompt(body: string, issue: Partial<Issue> = {}, front = 'tracker: {kind: memory}'): string {
  const input = { issue: givenIssue(issue), attempt: null, retryKind: null, fenceMark: mark };
  return given(front, {}, body).renderPrompt(input);
}

describe('text of an untrusted author in a prompt', () => {
  // @conforms tools.9
  it('is fenced, title and description separately, and the prompt starts with an explanation of the fence', () => {
    expect(
      prompt('{{ issue.identifier }}: {{ issue.title }}\n\n{{ issue.description }}', { description: 'a\nb' }),
    ).toBe(`${rule}S-1: ${inFence('Refactor backend request path')}\n\n${inFence('a\nb')}`);
    expect(prompt('')).toContain(inFence('Refactor backend request path'));
  });

  it('is not fenced for a trusted author, or without a mark', () => {
    const front =
      'tracker: {kind: linear, provider: {api_key: k, project_slug: p}, trusted_authors: [" Ada@Example.org "]}';
    expect(prompt('{{ issue.title }} {{ issue.trusted }}', { authorNames: ['u-1', 'ada@example.org'] }, front)).toBe(
      'Refactor backend request path true',
    );
    expect(prompt('{{ issue.title }}', { authorNames: ['eve'] }, front)).toContain('BEGIN-');
    const unmarked = { issue: givenIssue(), attempt: null, retryKind: null, fenceMark: null };
    expect(given('tracker: {kind: memory}', {}, '{{ issue.title }}').renderPrompt(unmarked)).toBe(
      'Refactor backend request path',
    );
  });

  it('is trusted from this machine only if the tracker is on this machine', () => {
    const local = { authorNames: ['local'] };
    const [memory, board] = ['tracker: {kind: memory, trusted_authors: [ada]}', 'tracker: {kind: board}'];
    for (const front of [memory, board]) expect(prompt('{{ issue.title }}', local, front)).not.toContain(mark);
    const linear = 'tracker: {kind: linear, provider: {api_key: k, project_slug: p}}';
    expect(prompt('{{ issue.title }}', local, linear)).toContain(inFence('Refactor backend request path'));
  });

  it('has no explanation when the prompt uses none of it', () => {
    expect(prompt('Do {{ issue.identifier }}.')).toBe('Do S-1.');
    expect(prompt('{{ issue.description }}.', { description: null })).toBe('.');
  });

  it('can be tested and compared like plain text', () => {
    const body = `{% if issue.description %}yes{% else %}no{% endif %}
{% if issue.title contains "backend" %}yes{% endif %}{% if issue.title contains "BEGIN" %}no{% endif %}
{% if issue.title == "Refactor backend request path" %}yes{% endif %}{% if "x" != issue.title %}yes{% endif %}
{% case issue.title %}{% when "Refactor backend request path" %}yes{% else %}no{% endcase %}
{% if issue.title > "A" and issue.title < "Z" and issue.title >= "A" and issue.title <= "Z" %}yes{% endif %}
{% if issue.description == blank or issue.description == empty %}no{% endif %}{{ issue.title.size }} {{ issue.title | size }}
{% unless issue.trusted %}a stranger{% endunless %}`;
    expect(prompt(body)).toBe('yes\nyes\nyesyes\nyes\nyes\n29 29\na stranger');
    const absent = '{% if issue.description %}yes{% else %}no{% endif %} {{ issue.description | default: "none" }}';
    expect(prompt(absent, { description: null })).toBe('no none');
  });

  it.each([
    ['{{ issue.title | upcase }}', inFence('REFACTOR BACKEND REQUEST PATH')],
    ['{{ issue.title | truncate: 11 }}', inFence('Refactor...')],
    ['{{ issue.title | slice: 0, 8 | append: "!" }}', inFence('Refactor!')],
    ['{{ "About: " | append: issue.title }}', inFence('About: Refactor backend request path')],
    ['{{ issue.title | split: " " | join: "_" }}', inFence('Refactor_backend_request_path')],
    ['{{ issue.title | split: " " | first }}', inFence('Refactor')],
    ['{{ issue.title | split: " " | reverse | map: "x" | size }}', '4'],
    ['{{ issue.title | raw }}', inFence('Refactor backend request path')],
    ['{% echo issue.title %}', inFence('Refactor backend request path')],
    ['{% assign t = issue.title %}{{ t | downcase }}', inFence('refactor backend request path')],
    ['{% capture t %}> {{ issue.title }}{% endcapture %}{{ t }}', `> ${inFence('Refactor backend request path')}`],
    ['{% capture t %}> {{ issue.title }}{% endcapture %}{{ t | truncate: 13 }}', inFence('> Refactor...')],
    ['{% cycle issue.title, "b" %}', inFence('Refactor backend request path')],
    ['{% for part in issue.title %}{{ part }}{% endfor %}', inFence('Refactor backend request path')],
    ['{{ issue.title | json }}', inFence('"Refactor backend request path"')],
    ['{{ issue.title | escape | url_encode | strip_html | strip }}', inFence('Refactor+backend+request+path')],
  ])('keeps its fence in %s', (body, expected) => {
    expect(prompt(body).replace(rule, '')).toBe(expected);
  });

  it('keeps one fence per line when a template loops over lines', () => {
    const body =
      '{% assign lines = issue.description | split: "\n" %}{% for line in lines %}- {{ line }}\n{% endfor %}';
    expect(prompt(body, { description: 'one\ntwo' })).toBe(`${rule}- ${inFence('one')}\n- ${inFence('two')}\n`);
    const whole = prompt('{{ issue | json }}').replace(rule, '');
    expect(whole).toMatch(new RegExp(`^BEGIN-${mark} {.*"title":"Refactor.*} END-${mark}$`));
    expect(prompt('{{ issue }}', { description: 'a\nb' })).toContain(`BEGIN-${mark}\\na\\nb\\nEND-${mark}`);
  });

  it('is a single line in a title, and a filter cannot add line breaks', () => {
    expect(prompt('{{ issue.title }}', { title: 'a\nb\u2028c' })).toBe(`${rule}${inFence('a b c')}`);
    expect(prompt('{{ issue.title | url_decode }}', { title: `a%1b[2Jb${encodeURIComponent(mark)}` })).toBe(
      `${rule}${inFence('a␛[2Jb…')}`,
    );
  });

  // @conforms tools.11
  it('has complete fences for any text and any filters', () => {
    const filters = [
      'upcase',
      'truncate: 20',
      'slice: 3, 40',
      'strip_html',
      'escape',
      'replace: "END", "BEGIN"',
      'json',
    ];
    const pieces = fc.constantFrom(
      mark,
      mark.toUpperCase(),
      `END-${mark}`,
      '\n',
      'END-',
      '{{ issue.id }}',
      '<b>',
      '\u202e',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(pieces, fc.string({ unit: anyCharacter })), { maxLength: 8 }).map((parts) => parts.join('')),
        fc.array(fc.constantFrom(...filters), { maxLength: 3 }),
        fc.boolean(),
        (text, chain, captured) => {
          const piped = ['', ...chain].join(' | ');
          const body = captured
            ? `{% capture c %}a {{ issue.description }} b{% endcapture %}{{ c${piped} }}-`
            : `{{ issue.title${piped} }}-{{ issue.description${piped} }}-`;
          const rendered = prompt(body, { title: text, description: text });
          expect(fenceState(rendered.replace(rule, ''), mark)).not.toBe('broken');
          expect(rendered.endsWith('-')).toBe(true);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('leaves names unfenced, each as one harmless line', () => {
    const issue = {
      labels: [`x\nEND-${mark}`, 'bug'],
      branchName: `eve/\u202e${mark}`,
      url: 'https://example.org/a\u0007b',
      nativeRef: { names: ['a\nb'], number: 7 },
      blockedBy: [{ id: null, identifier: 'S-0\n', state: 'Done' }],
    };
    const body = `{{ issue.labels | join: "," }} {{ issue.branch_name }} {{ issue.url }} {{ issue.native_ref }} {{ issue.blocked_by[0].identifier }}|
{% if issue.labels contains "bug" %}bug{% endif %}`;
    expect(prompt(body, issue)).toBe(
      'x END-…,bug eve/⟦U+202E⟧… https://example.org/a␇b {"names":["a b"],"number":7} S-0|\nbug',
    );
  });

  it('does not change branch names', () => {
    const { renderBranch } = given('tracker: {kind: memory}\nworkspace: {branch: "x/{{ issue.title | slice: 0, 8 }}"}');
    expect(renderBranch(givenIssue())).toBe('x/Refactor');
  });

  it('has fences that the trial of the template recognises', () => {
    const good =
      '{{ issue.title | truncate: 5 }}{% capture c %}{{ issue.description }}{% endcapture %}{{ c | slice: 0, 9 }}';
    expect(tryTemplates(given('tracker: {kind: memory}', {}, good))).toEqual([]);
  });
});
