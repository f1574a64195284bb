import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMatches, type Matches, type PaletteItem } from '../../dashboard/data/page/palette-matches.ts';

const item = (id: string, label = id): PaletteItem => ({ id, group: 'Issues', label, detail: '', run: () => {} });
const row = (name: string, title = 'A title'): { issue_identifier: string; title: string } => ({
  issue_identifier: name,
  title,
});
const ids = (matches: Matches): readonly string[] => matches.items().map(({ id }) => id);

describe('the items of the palette', () => {
  it('contain every typed word, in the row or its actions', () => {
    const matches = createMatches(['stop', 'bat-1', 'left']);
    matches.addOf({ project: 'left', row: row('BAT-1'), more: 'Stop BAT-1' }, () => item('stop'));
    matches.addOf({ project: 'left', row: row('BAT-1'), more: 'Hold BAT-1' }, () => item('hold'));
    matches.addOf({ project: 'right', row: row('BAT-1'), more: 'Stop BAT-1' }, () => item('other'));
    matches.add(item('screen', 'Stop at BAT-1 on the LEFT'));
    expect(ids(matches)).toEqual(['stop', 'screen']);
  });

  it('contain an issue once, even if it asks and runs', () => {
    const matches = createMatches([]);
    for (const what of ['needs you', 'running'])
      matches.addOf({ project: 'p', row: row('BAT-1'), more: what }, () => item('issue/p/1', what));
    expect(matches.items().map(({ label }) => label)).toEqual(['needs you']);
  });

  // @conforms dashboard.42
  it('stay within their limit, with an issue named in full first', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 30 }), (count, most) => {
        const matches = createMatches([`bat-${count}`], most);
        for (let index = 1; index <= count; index += 1) {
          // All of them have the words in their title.
          const subject = { project: 'p', row: row(`BAT-${index}`, `after BAT-${count}`), more: '' };
          matches.addOf(subject, () => item(String(index)));
        }
        expect(ids(matches)[0]).toBe(String(count));
        expect(ids(matches).length).toBe(Math.min(most, count));
      }),
    );
  });

  it('are created only for matches, and no more when the list is full', () => {
    const matches = createMatches(['wanted'], 2);
    let made = 0;
    for (let index = 0; index < 1_000; index += 1)
      matches.addOf({ project: 'p', row: row(`BAT-${index}`, index % 2 === 0 ? 'wanted' : 'other'), more: '' }, () => {
        made += 1;
        return item(String(index));
      });
    expect(ids(matches)).toEqual(['0', '2']);
    expect(made).toBe(2);
    expect(matches.isFull()).toBe(true);
  });
});
