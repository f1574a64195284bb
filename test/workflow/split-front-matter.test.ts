import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitFrontMatter } from '../../src/workflow/split-front-matter.ts';
import { anyCharacter } from '../any-character.ts';
import { defaultPrompt, given, givenIssue, givenText, problemsIn, refusal } from './given.ts';

describe('splitting front matter and body', () => {
  // @conforms C23
  it('treats a file without front matter as body', () => {
    expect(splitFrontMatter('Prompt only\n')).toEqual({ frontMatter: null, body: 'Prompt only\n', bodyLine: 1 });
    expect(refusal(() => givenText('Prompt only\n'))).toMatchObject({ code: 'missing_tracker_kind' });
  });

  // @conforms X10
  it('accepts LF and CRLF', () => {
    expect(splitFrontMatter('---\na: 1\n---\nbody\n')).toEqual({ frontMatter: 'a: 1\n', body: 'body\n', bodyLine: 4 });
    expect(splitFrontMatter('---\r\na: 1\r\n---\r\nbody\r\n')).toMatchObject({
      frontMatter: 'a: 1\r\n',
      body: 'body\r\n',
    });
    const workflow = givenText('---\r\ntracker:\r\n  kind: memory\r\n---\r\nHello {{ issue.identifier }}\r\n');
    expect(workflow.renderPrompt({ issue: givenIssue(), attempt: null, retryKind: null, fenceMark: null })).toBe(
      'Hello S-1',
    );
  });

  // @conforms X10
  it('drops a byte order mark and reads the front matter after it', () => {
    expect(splitFrontMatter('\uFEFF---\na: 1\n---\nbody')).toMatchObject({ frontMatter: 'a: 1\n', body: 'body' });
    expect(givenText('\uFEFF---\ntracker: {kind: memory}\n---\n').settings.tracker.kind).toBe('memory');
    expect(splitFrontMatter('\uFEFFbody')).toMatchObject({ frontMatter: null, body: 'body' });
  });

  // @conforms X10
  it('keeps a line of dashes inside the body', () => {
    const body = 'one\n---\ntwo\n---\n';
    expect(splitFrontMatter(`---\na: 1\n---\n${body}`).body).toBe(body);
    expect(splitFrontMatter(`no front matter\n---\nx\n---\n`).frontMatter).toBeNull();
  });

  // @conforms ref-1.4
  it('treats everything as front matter when it is not closed, and uses the default prompt', () => {
    expect(splitFrontMatter('---\ntracker: {kind: memory}\n')).toMatchObject({
      frontMatter: 'tracker: {kind: memory}\n',
      body: '',
    });
    const workflow = givenText('---\ntracker: {kind: memory}\n');
    const prompt = workflow.renderPrompt({ issue: givenIssue(), attempt: null, retryKind: null, fenceMark: null });
    const byDefault = given('tracker: {kind: memory}', {}, defaultPrompt);
    expect(prompt).toBe(
      byDefault.renderPrompt({ issue: givenIssue(), attempt: null, retryKind: null, fenceMark: null }),
    );
  });

  it('recognises only lines that are exactly three dashes', () => {
    for (const almost of ['--- ', ' ---', '----', '--', '---#', '---\r', '...']) {
      expect(splitFrontMatter(`${almost}\na: 1\n---\nbody`).frontMatter, JSON.stringify(almost)).toBe(
        almost === '---\r' ? 'a: 1\n' : null,
      );
      const inside = splitFrontMatter(`---\na: 1\n${almost}\n---\nbody`);
      expect(inside.body, JSON.stringify(almost)).toBe(almost === '---\r' ? '---\nbody' : 'body');
    }
    expect(splitFrontMatter('---')).toEqual({ frontMatter: '', body: '', bodyLine: 1 });
    expect(splitFrontMatter('---\n---')).toMatchObject({ frontMatter: '', body: '' });
  });

  it('distinguishes a file with a blank first line from one without a tracker kind', () => {
    const problemOf = (read: () => unknown) => problemsIn(refusal(read))[0]?.details?.problem;
    expect(problemOf(() => givenText('\n---\ntracker: {kind: memory}\n---\n'))).toBe('no_front_matter');
    expect(problemOf(() => given('polling: {interval_ms: 5}'))).toBeUndefined();
  });

  // @conforms workflow.1
  it('never loses a byte of the body', () => {
    const line = fc.constantFrom('---', 'x', '', '\r', 'é\u2028', '--- ', '\t---');
    const end = fc.constantFrom('\n', '\r\n');
    const text = fc.array(fc.tuple(line, end)).map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(text, text, end, (front, body, newline) => {
        // A closing line within the front matter would end it early, and a bare one is what is tested here.
        fc.pre(!/(^|\n)---(\r?\n|$)/.test(front));
        const whole = `---${newline}${front}---${newline}${body}`;
        expect(splitFrontMatter(whole)).toMatchObject({ frontMatter: front, body });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (anything) => {
        const { frontMatter, body } = splitFrontMatter(anything);
        expect(anything.endsWith(body)).toBe(true);
        if (frontMatter === null) expect(`\uFEFF${body}`.endsWith(anything)).toBe(true);
      }),
    );
  });

  it('counts the lines before the body, so that messages point at the right line', () => {
    expect(splitFrontMatter('---\na: 1\nb: 2\n---\nbody').bodyLine).toBe(5);
    const error = refusal(() => given('tracker: {kind: memory}', {}, '\nfine\n{% if issue.identifier %}'));
    expect(problemsIn(error)).toMatchObject([{ details: { line: 6, column: 1 } }]);
  });
});
