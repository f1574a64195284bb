import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchName, isBranchName } from '../../../src/workflow/template/branch-name.ts';
import { givenIssue, givenMemory, refusal } from '../given.ts';

const named = (rendered: string, id = 'id-1', identifier = 'ABC-1') => branchName(rendered, { id, identifier });

/** Which of these git takes as the name of a branch: one shell asks for all of them. */
function takenByGit(names: readonly string[]): boolean[] {
  const ask = 'for name; do git check-ref-format --branch "$name" >/dev/null 2>&1 && echo yes || echo no; done';
  const answers = execFileSync('sh', ['-c', ask, 'sh', ...names], { cwd: '/', encoding: 'utf8' });
  return answers
    .trim()
    .split('\n')
    .map((answer) => answer === 'yes');
}

/** Texts made of what the rules are about. */
const pieces = [
  ...['a', 'B', '7', 'ü', '日', '😀', '\u202e', '\ud800', '-', '.', '/', '@', '{', '}', '~', '^', ':', '?', '*', '['],
  ...[
    '\\',
    ' ',
    '\t',
    '\n',
    '\x7f',
    '\x01',
    '..',
    '//',
    '.lock',
    '.LOCK',
    'HEAD',
    '@{-1}',
    '@{u}',
    '$(x)',
    '`',
    '"',
    "'",
  ],
  ...['baton/', 'refs/heads/', '-12345678', 'x'.repeat(90), 'ü'.repeat(90)],
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));
const sampled = (count: number) => fc.sample(text, { numRuns: count, seed: 5 });

describe('the branch of an issue', () => {
  it('is the rendered text without surrounding blanks, if that is a valid name', () => {
    for (const name of ['baton/abc-1', 'a', 'feature/x.y_z', 'owner/repo#12', 'ü/日本', 'a.locks', 'HEADS', 'x@y'])
      expect(named(`  ${name}\n`), name).toBe(name);
  });

  it.each([
    ['a b', 'a-b'],
    ['a..b', 'a.b'],
    ['a//b/', 'a/b'],
    ['-a', 'a'],
    ['/.a/.b.', 'a/b'],
    ['x.lock/y.lock', 'x/y'],
    ['a~^:?*[\\b', 'a-b'],
    ['a@{b', 'a@-b'],
    ['HEAD', 'HEAD'],
    ['@', '@'],
    ['$(rm -rf x)`id`', 'rm -rf x-id'.replaceAll(' ', '-')],
    ['a\nb\tc', 'a-b-c'],
    ['x'.repeat(300), 'x'.repeat(191)],
  ])('makes %j valid and appends a hash', (rendered, stem) => {
    expect(named(rendered).replace(/-[0-9a-f]{8}$/, '')).toBe(stem);
    expect(named(rendered)).toMatch(/-[0-9a-f]{8}$/);
  });

  it('falls back to the identifier when the rendered or cleaned text is empty', () => {
    expect(named('  \n ')).toBe('baton/ABC-1');
    expect(named('???')).toMatch(/^baton\/ABC-1-[0-9a-f]{8}$/);
    expect(named('???', 'id', '???')).toMatch(/^baton\/issue-[0-9a-f]{8}$/);
    expect(named('', 'id', 'a b')).toMatch(/^baton\/a-b-[0-9a-f]{8}$/);
  });

  // @conforms limits.18
  it('is always a name that git accepts, whatever the issue contains', () => {
    const names = sampled(400).map((rendered) => named(rendered, 'id', rendered));
    const taken = takenByGit(names);
    expect(names.filter((_, index) => taken[index] !== true)).toEqual([]);
    expect(names.filter((name) => Buffer.byteLength(name) > 200)).toEqual([]);
    expect(names.filter((name) => /[\p{C}\p{Z}$`"'();&|<>]/u.test(name))).toEqual([]);
  });

  // @conforms limits.19
  it('is never shared by two issues because of a changed name', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const first = named(one, 'id-1', 'ABC-1');
        const second = named(other, 'id-2', 'ABC-2');
        // Two issues for which the template says the same name ask for it.
        if (first === second) expect([one.trim(), other.trim()]).toEqual([first, first]);
      }),
      { seed: 5 },
    );
    const mended = named('a b', 'id-1');
    expect(named(mended, 'id-2')).not.toBe(mended);
    expect(named('a b', 'id-2')).not.toBe(mended);
    expect(named('a b', 'id-1')).toBe(mended);
  });
});

describe('isBranchName', () => {
  it('agrees with git', () => {
    // A NUL cannot be handed to a program, a lone surrogate would reach it as another character, and @ is HEAD elsewhere.
    const names = [
      ...sampled(400),
      ...['', 'main', 'HEAD', '@', '-', '.', 'a.', 'a/', '/a', 'x.lock', 'a.lock/b', 'refs/heads/x'],
    ];
    const possible = names.filter((name) => name.isWellFormed() && name !== '@');
    const taken = takenByGit(possible);
    expect(possible.filter((name, index) => isBranchName(name) !== taken[index])).toEqual([]);
    expect(isBranchName('@')).toBe(false);
    expect(isBranchName('a\0b')).toBe(false);
    expect(isBranchName('a\ud800')).toBe(false);
  });
});

describe('workspace.branch', () => {
  it('is baton/ and the lower-case identifier by default', () => {
    expect(givenMemory('').renderBranch(givenIssue({ identifier: 'ABC-12' }))).toBe('baton/abc-12');
  });

  it('may use the issue, and its result is made valid', () => {
    const { renderBranch } = givenMemory('workspace: {branch: "{{ issue.title }}"}');
    expect(renderBranch(givenIssue({ title: 'Fix $(it): now!' }))).toMatch(/^Fix-it-now-[0-9a-f]{8}$/);
  });

  it('sees neither the attempt nor any other variable', () => {
    const { renderBranch } = givenMemory('workspace: {branch: "b/{{ attempt }}"}');
    const error = refusal(() => renderBranch(givenIssue()));
    expect(error.code).toBe('template_render_error');
    expect(error.message).toMatch(/workspace\.branch .*attempt/);
  });
});
