import { describe, expect, it } from 'vitest';
import { oneFirstStart } from '../../../../src/agent/codex/session/first-start.ts';

/** Starts that a test ends, and how many are in progress. */
function starts() {
  const open: { readonly end: (fails: boolean) => void }[] = [];
  let live = 0;
  let most = 0;
  const start = async (): Promise<string> => {
    live += 1;
    most = Math.max(most, live);
    try {
      await new Promise<void>((resolve, reject) => {
        open.push({ end: (fails) => (fails ? reject(new Error('it failed')) : resolve()) });
      });
      return 'begun';
    } finally {
      live -= 1;
    }
  };
  return { start, open, most: () => most };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('first starts in one home', () => {
  // @conforms codex.1
  it('run one after the other until one has succeeded, then at the same time', async () => {
    const { start, open, most } = starts();
    const all = Array.from({ length: 5 }, () => oneFirstStart('new home', start));
    await soon();
    expect(open).toHaveLength(1);
    open[0]?.end(false);
    await soon();
    expect(open).toHaveLength(5);
    expect(most()).toBe(4);
    for (const each of open) each.end(false);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 5 }, () => 'begun'));
  });

  it('let the next one try after a failure', async () => {
    const { start, open } = starts();
    const first = oneFirstStart('bad home', start);
    const second = oneFirstStart('bad home', start);
    await soon();
    open[0]?.end(true);
    await expect(first).rejects.toThrow('it failed');
    await soon();
    expect(open).toHaveLength(2);
    open[1]?.end(false);
    expect(await second).toBe('begun');
  });

  it('do not wait for those in another home', async () => {
    const { start, open } = starts();
    void oneFirstStart('one home', start);
    void oneFirstStart('another home', start);
    await soon();
    expect(open).toHaveLength(2);
    for (const each of open) each.end(false);
  });
});
