import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createdWords, keysOf } from '../../dashboard/data/issue/history-words.ts';

const past = fc.array(fc.record({ at: fc.constantFrom('1', '2', '3'), what: fc.constantFrom('comment', 'status') }));

describe('the history of an issue', () => {
  it('gives each entry a unique key that stays when entries are added', () => {
    fc.assert(
      fc.property(past, past, (before, more) => {
        const keys = keysOf(before);
        expect(new Set(keys).size).toBe(before.length);
        expect(keysOf([...before, ...more]).slice(0, before.length)).toEqual(keys);
      }),
    );
  });

  it('keeps the keys when entries of another kind come between', () => {
    const [one, two] = [
      { at: '1', what: 'status' },
      { at: '1', what: 'comment' },
    ];
    expect(keysOf([one, one, two]).at(-1)).toBe(keysOf([one, two]).at(-1));
  });

  it('describes a created issue in words', () => {
    const facts = {
      title: 'A door',
      description: 'long',
      status: 'in_review',
      priority: 2,
      labels: ['a', 'b'],
      url: null,
    };
    for (const fact of ['A door', 'in review', '2', 'a, b']) expect(createdWords(facts)).toContain(fact);
    expect(createdWords(facts)).not.toContain('long');
    const few = createdWords({ title: 'A door', status: 'todo', priority: null, labels: [] });
    for (const fact of ['A door', 'todo']) expect(few).toContain(fact);
    expect(few).not.toContain('null');
    expect(few.length).toBeLessThan(createdWords({ title: 'A door', status: 'todo', priority: 2, labels: [] }).length);
  });

  it('describes any recorded value in words, never as JSON', () => {
    const garbage = fc.oneof(fc.object(), fc.boolean(), fc.constant(null), fc.array(fc.object()));
    const facts = fc.record({ title: garbage, status: garbage, priority: garbage, labels: garbage });
    fc.assert(
      fc.property(fc.oneof(facts, garbage, fc.string()), (each) => {
        expect(createdWords(each)).not.toMatch(/[{}]|object Object/);
      }),
    );
  });
});
