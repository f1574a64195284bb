import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenScript, scriptQuestion } from '../../../src/agent/rehearsal/choices.ts';
import { parseScript } from '../../../src/agent/rehearsal/script.ts';
import { answersText } from '../../../src/core/command/answer-text.ts';

const fields = [{ name: 'answer', label: 'Answer', options: [], allowsOther: true, isSecret: false }];
const question = { kind: 'input', text: scriptQuestion, detail: '', fields } as const;
const answered = (answer: string): string =>
  answersText([{ question, answer: { decision: 'accept', values: { answer } } }]);

/** The choices that the question names. */
const named = [...scriptQuestion.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('the question of the scripted agent without a script', () => {
  it('names only choices that have a script', () => {
    expect(named).toHaveLength(3);
    expect(named).toContain('fail');
    for (const name of named) {
      const script = chosenScript(answered(name), 'T-1');
      expect(parseScript(script ?? '')[0]?.length, name).toBeGreaterThan(0);
      expect(chosenScript(answered(`\`${name.toUpperCase()}\`.`), 'T-1')).toBe(script);
    }
  });

  it('is one line and within the length limit of a question', () => {
    expect(scriptQuestion.length).toBeLessThanOrEqual(500);
    expect(scriptQuestion).not.toContain('\n');
  });

  it('uses the last of two answers', () => {
    const [first = ''] = named;
    expect(chosenScript(`${answered(first)}\n\n${answered('fail')}`, 'T-1')).toMatch(/^fail /);
  });

  it('finds no script for another answer, or for a prompt without an answer', () => {
    expect(chosenScript('An issue that says: fail', 'T-1')).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const known = named.some((name) => text.toLowerCase().includes(name));
        return known || chosenScript(answered(text), 'T-1') === null;
      }),
    );
    expect(chosenScript(answered('constructor'), 'T-1')).toBeNull();
  });
});
