import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromSnapshot, withPatch } from '../../dashboard/data/issue/rows.ts';
import type { Patch } from '../../src/client/schema/event.ts';
import type { Now } from '../../src/client/schema/now.ts';

const vitals: Now['vitals'] = {
  started_at: null,
  paused: null,
  slots: { used: 0, limit: 1 },
  today: { tokens: 0, cost_usd: 0, token_limit: null, cost_limit_usd: null },
  polling: { mode: 'active', interval_ms: 1, next_poll_at: null, is_polling: false, quiet_until: null, failures: 0 },
  budget: { step: 'free', text: '', until: null },
  problems: [],
};

function finished(key: string, title: string): Now['finished'][number] {
  return { key, issue_id: key, issue_identifier: key, title, issue_url: null, state: 'done', at: null };
}

function snapshot(rows: ReadonlyMap<string, string>): Now {
  const none = { needs_you: [], running: [], waiting: [], accounts: [] };
  const all = [...rows].map(([key, title]) => finished(key, title));
  return { project: 'demo', generated_at: null, vitals, ...none, finished: all };
}

function patch(changes: Partial<Pick<Patch, 'set' | 'drop' | 'vitals'>>): Patch {
  return { project: 'demo', at: '2026-01-01T00:00:00.000Z', set: {}, drop: {}, ...changes };
}

const someRows = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.string());

describe('the rows of a project', () => {
  // @conforms dashboard.2
  it('equal a snapshot after any patches', () => {
    fc.assert(
      fc.property(someRows, fc.array(someRows, { maxLength: 6 }), (first, nexts) => {
        let before = new Map(Object.entries(first));
        let rows = fromSnapshot(snapshot(before));
        for (const next of nexts) {
          const after = new Map(Object.entries(next));
          const set = [...after].filter(([key, title]) => before.get(key) !== title).map((row) => finished(...row));
          const drop = [...before.keys()].filter((key) => !after.has(key));
          rows = withPatch(rows, patch({ set: { finished: set }, drop: { finished: drop } }));
          before = after;
        }
        expect(new Map([...rows.finished].sort())).toEqual(
          new Map([...fromSnapshot(snapshot(before)).finished].sort()),
        );
      }),
    );
  });

  it('stay the same objects if a patch does not name them', () => {
    const before = fromSnapshot(
      snapshot(
        new Map([
          ['a', '1'],
          ['b', '2'],
        ]),
      ),
    );
    const after = withPatch(before, patch({ set: { finished: [finished('b', '3')] } }));
    expect(after.finished.get('a')).toBe(before.finished.get('a'));
    expect(after.running).toBe(before.running);
    expect(after.vitals).toBe(before.vitals);
    expect(before.finished.get('b')?.title).toBe('2');
  });

  it('take new vitals, and ignore the removal of an unknown row', () => {
    const paused = { ...vitals, slots: { used: 1, limit: 1 } };
    const before = fromSnapshot(snapshot(new Map()));
    expect(withPatch(before, patch({ vitals: paused, drop: { running: ['gone'] } })).vitals).toBe(paused);
  });
});
