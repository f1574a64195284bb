import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { PromptInput } from '../../src/core/workflow.ts';
import { tryTemplates } from '../../src/workflow/template/try-templates.ts';
import { defaultPrompt, given, givenIssue, path, problemsIn, refusal } from './given.ts';

const workflowWith = (body: string) => given('tracker: {kind: memory}', {}, body);

function prompt(body: string, issue: Partial<Issue> = {}, run: Partial<PromptInput> = {}): string {
  const input = { issue: givenIssue(issue), attempt: null, retryKind: null, fenceMark: null, ...run };
  return workflowWith(body).renderPrompt(input);
}

describe('the prompt', () => {
  // @conforms P1
  it('renders issue and attempt, and joins a list without a separator', () => {
    const body = 'Ticket {{ issue.identifier }} {{ issue.title }} labels={{ issue.labels }} attempt={{ attempt }}';
    expect(prompt(body, {}, { attempt: 3 })).toBe('Ticket S-1 Refactor backend request path labels=backend attempt=3');
    expect(prompt('{{ issue.labels }}', { labels: ['a', 'b'] })).toBe('ab');
  });

  // @conforms P2
  it('renders times as ISO 8601, without milliseconds when there are none', () => {
    expect(prompt('{{ issue.created_at }}')).toBe('2026-02-26T18:06:48Z');
    expect(prompt('{{ issue.updated_at }}', { updatedAt: Date.UTC(2026, 0, 1, 0, 0, 0, 7) })).toBe(
      '2026-01-01T00:00:00.007Z',
    );
    expect(prompt('{{ issue.created_at | date: "%Y-%m-%d %H:%M" }}')).toBe('2026-02-26 18:06');
  });

  // @conforms P4
  it('fails to render an unknown variable', () => {
    const error = refusal(() => prompt('{{ missing.ticket_id }}'));
    expect(error.code).toBe('template_render_error');
    expect(error.message).toContain(path);
    expect(error.message).toContain('missing');
    expect(error.details).toMatchObject({ line: 4, column: 4 });
    for (const body of ['{{ issue.nope }}', '{{ issue.constructor }}', '{{ issue.__proto__ }}', '{{ attempts }}']) {
      expect(refusal(() => prompt(body)).code, body).toBe('template_render_error');
    }
  });

  // @conforms P5
  it('rejects a template that is not valid Liquid when it loads, and shows the text', () => {
    const error = refusal(() => workflowWith('{% if issue.identifier %}'));
    expect(error.code).toBe('template_parse_error');
    expect(error.message).toContain('{% if issue.identifier %}');
    for (const body of ['{{', '{% foo %}', '{{ issue.id | nofilter }}', '{% for %}']) {
      expect(refusal(() => workflowWith(body)).code, body).toBe('template_parse_error');
    }
  });

  it('reports invalid settings and an invalid template together', () => {
    const error = refusal(() => given('tracker: {kind: memory}\nagent: {max_turns: 0}', {}, '{% foo %}'));
    expect(error.code).toBe('invalid_workflow_config');
    expect(problemsIn(error)).toMatchObject([
      { code: 'invalid_workflow_config', key: 'agent.max_turns' },
      { code: 'template_parse_error', key: null, message: expect.stringContaining('foo') },
    ]);
  });

  // @conforms P7
  it('uses the default prompt for an empty body', () => {
    for (const blank of ['', '  \n\n\t']) {
      for (const issue of [{}, { description: null }]) expect(prompt(blank, issue)).toBe(prompt(defaultPrompt, issue));
      expect(prompt(blank)).toMatch(/S-1\n.*Refactor backend request path\n.*Replace transport layer$/s);
    }
  });

  // @conforms P8
  it('distinguishes a first run from a later one by attempt', () => {
    const body = '{% if attempt %}Retry #{{ attempt }}{% endif %}';
    expect(prompt(body, {}, { attempt: 2 })).toBe('Retry #2');
    expect(prompt(body)).toBe('');
  });

  // @conforms P10
  it('provides the kind of retry, the state and the address', () => {
    const body = `{% if attempt %}This is follow-up attempt #{{ attempt }} ({{ retry_kind }}).{% endif %}
Current status: {{ issue.state }}
{{ issue.url }}`;
    expect(prompt(body, { state: 'In Progress' }, { attempt: 2, retryKind: 'failure' })).toBe(
      'This is follow-up attempt #2 (failure).\nCurrent status: In Progress\nhttps://example.org/issues/S-1',
    );
  });

  // @conforms P11
  it('lets a template test for absent values', () => {
    const body = `{% if attempt %}Follow-up context:{% endif %}
{{ issue.description | default: "No description provided." }}
{% if issue.nope %}never{% endif %}{% unless issue.branch_name %}no branch{% endunless %}`;
    expect(prompt(body, { description: null }, { attempt: 2 })).toBe(
      'Follow-up context:\nNo description provided.\nno branch',
    );
  });

  it('provides every field of the specification', () => {
    const full: Partial<Issue> = {
      nativeRef: { number: 7 },
      blockedBy: [{ id: 'b', identifier: 'S-0', state: 'Done' }],
      assigneeId: 'me',
      branchName: 'br',
    };
    const fields = [
      'id',
      'native_ref',
      'identifier',
      'title',
      'description',
      'priority',
      'state',
      'branch_name',
      'url',
    ];
    const more = ['assignee_id', 'trusted', 'labels', 'blocked_by', 'dispatchable', 'created_at', 'updated_at'];
    for (const field of [...fields, ...more]) expect(prompt(`{{ issue.${field} }}`, full), field).not.toBe('');
    expect(prompt('{% for b in issue.blocked_by %}{{ b.identifier }} {{ b.state }}{% endfor %}', full)).toBe(
      'S-0 Done',
    );
    expect(prompt('{{ issue.native_ref.number }} {{ issue.native_ref }}', full)).toBe('7 {"number":7}');
  });

  // @conforms workflow.10
  it('never treats text of an issue as a template, and never escapes it', () => {
    expect(prompt('{{ issue.title }}', { title: '{{ issue.id }} <b> & {% raw %}' })).toBe(
      '{{ issue.id }} <b> & {% raw %}',
    );
  });

  it('cannot read files', () => {
    for (const body of ['{% include "package.json" %}', '{% render "/etc/passwd" %}', '{% layout "../x" %}']) {
      expect(refusal(() => prompt(body)).code, body).toBe('template_render_error');
    }
  });

  // @conforms workflow.8
  it('stops a template that does not end or grows without end', () => {
    const doubling = (times: number) =>
      `{% capture s %}xxxxxxxxxx{% endcapture %}{% for i in (1..${times}) %}{% capture s %}{{ s }}{{ s }}{% endcapture %}{% endfor %}{{ s }}`;
    const range = (body: string) => `{% for a in (1..99999) %}${body}{% endfor %}`;
    // What the library itself refuses it only says in words.
    const reasons: readonly (readonly [body: string, reason: string | RegExp])[] = [
      [range(range(range(''))), 'too_many_steps'],
      ['{% for a in (1..100000000) %}x{% endfor %}', /memory/],
      ['{% assign s = "xx" %}{% for i in (1..50) %}{% assign s = s | append: s %}{% endfor %}{{ s }}', /memory/],
      [doubling(22), 'too_long'],
      [doubling(99), /string length/],
    ];
    for (const [body, reason] of reasons) {
      const error = refusal(() => prompt(body));
      expect(error.code, body).toBe('template_render_error');
      if (typeof reason === 'string') expect(error.details.problem, body).toBe(reason);
      else expect(error.message, body).toMatch(reason);
    }
  });

  it('renders an ordinary large prompt far below those limits', () => {
    const description = 'line of text\n'.repeat(20_000);
    expect(
      prompt('{% for i in (1..500) %}{{ i }}{% endfor %}{{ issue.description | strip | upcase }}', { description }),
    ).toContain('LINE OF TEXT');
  });
});

describe('the trial of a template', () => {
  it('finds errors that only some issues or runs would cause', () => {
    const problems = tryTemplates(
      workflowWith('{% if attempt %}{{ attemt }}{% endif %}\n{% for b in issue.blocked_by %}{{ b.sate }}{% endfor %}'),
    );
    expect(problems).toMatchObject([
      {
        code: 'template_render_error',
        severity: 'error',
        key: null,
        message: expect.stringContaining('b.sate'),
        details: { line: 5 },
      },
      { code: 'template_render_error', message: expect.stringContaining('attemt'), details: { line: 4 } },
    ]);
    expect(problems[0]?.message).not.toContain(path);
  });

  it('finds nothing in a valid template', () => {
    expect(tryTemplates(workflowWith('{{ issue.title }} {{ issue.native_ref.number }}'))).toEqual([]);
    expect(tryTemplates(workflowWith(''))).toEqual([]);
  });
});
