import { describe, expect, it } from 'vitest';
import { withAddition } from '../../src/workflow/edit-workflow.ts';

const nothing = { setup: null, checks: [], notes: '' };

const file = `---
# The project
project: {name: x}   # its name
workspace:
  repo: . # here
  # kept
  root: w

# What runs on a change
review: {checks: [npm test], auto_commit: true} # tail

agent: { backend: command }
---
{{ issue.title }}
`;

describe('an addition to a workflow file', () => {
  it('changes its section alone, and keeps comments and all other bytes', () => {
    const after = withAddition(file, { ...nothing, setup: 'npm ci', notes: 'Run the tests.\n' });
    expect(after).toBe(
      file.replace('  root: w\n', '  root: w\n  setup: npm ci\n').replace('title }}\n', 'title }}\n\nRun the tests.\n'),
    );
  });

  it('adds checks to those of the file, and replaces one with the same name', () => {
    const checks = [
      { name: 'npm test', run: 'npm test --silent' },
      { name: 'lint', run: 'npm run lint' },
    ];
    expect(withAddition(file, { ...nothing, checks })).toBe(
      file.replace('[npm test]', '[{name: npm test, run: npm test --silent}, {name: lint, run: npm run lint}]'),
    );
  });

  it('keeps the time limit of a check that it replaces', () => {
    const before = '---\nreview:\n  checks:\n    - name: test\n      timeout_ms: 5\n      run: old\n---\n';
    const checks = [{ name: 'test', run: 'new' }];
    expect(withAddition(before, { ...nothing, checks })).toBe(before.replace('old', 'new'));
  });

  it.each([
    ['an empty section', '---\nworkspace:\nagent: {}\n---\n', '---\nworkspace:\n  setup: make\nagent: {}\n---\n'],
    ['no section', '---\nagent: {}\n---\nHi', '---\nagent: {}\nworkspace:\n  setup: make\n---\nHi'],
    ['no end of the front matter', '---\nagent: {}', '---\nagent: {}\nworkspace:\n  setup: make\n'],
    ['other line ends', '---\r\na: 1\r\n---\r\n', '---\r\na: 1\r\nworkspace:\r\n  setup: make\r\n---\r\n'],
    ['braces', '---\nworkspace: { repo: . }\n---\n', '---\nworkspace: { repo: ., setup: make }\n---\n'],
  ])('works in a file with %s', (_, before, after) => {
    expect(withAddition(before, { ...nothing, setup: 'make' })).toBe(after);
  });

  it('writes a script of several lines as a block', () => {
    const after = withAddition('---\nworkspace: {repo: .}\n---\n', { ...nothing, setup: 'a\nb' });
    expect(after).toBe('---\nworkspace:\n  repo: .\n  setup: |-\n    a\n    b\n---\n');
  });

  it('changes nothing the second time', () => {
    const all = { setup: 'npm ci', checks: [{ name: 't', run: 'make: "x"' }], notes: 'Hi' };
    const once = withAddition(file, all);
    expect(withAddition(once, all)).toBe(once);
    expect(withAddition(file, nothing)).toBe(file);
  });

  it.each([
    ['without front matter', 'Hello'],
    ['whose section is no map', '---\nworkspace: 5\n---\n'],
    ['whose section refers to another', '---\na: &x {b: 1}\nworkspace: {repo: *x}\n---\n'],
  ])('is refused in a file %s', (_, text) => {
    expect(() => withAddition(text, { ...nothing, setup: 'make' })).toThrow(
      expect.objectContaining({ code: 'workflow_parse_error' }),
    );
  });
});
