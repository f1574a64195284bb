import { describe, expect, it } from 'vitest';
import { costWords, durationWords, sentences, stopwatchWords, tokenWords } from '../../dashboard/data/text/words.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('times and amounts', () => {
  it('have at most two units', () => {
    const told = [0, 999, 59_999, minute, hour - 1, hour, 25 * hour, -5].map(durationWords);
    expect(told).toEqual(['0 s', '0 s', '59 s', '1 min', '59 min', '1 h 00', '1 d 1 h', '0 s']);
    expect([0, 8_000, 192_000, 2 * hour + 5 * minute].map(stopwatchWords)).toEqual(['0:00', '0:08', '3:12', '2:05:00']);
  });

  it('never round up into the next unit', () => {
    expect([999, 1_000, 99_949, 99_950, 999_499, 999_500, 5_000_000].map(tokenWords)).toEqual([
      ...['999', '1.0k', '99.9k', '100k', '999k', '1.0M', '5.0M'],
    ]);
    expect([0, 0.001, 0.005, 9.999, 1_240.4].map(costWords)).toEqual(['$0.00', '<$0.01', '$0.01', '$10.00', '$1240']);
  });

  it('become sentences with a capital letter and a full stop', () => {
    expect(sentences('it is paused already', null, 'Resume it.')).toBe('It is paused already. Resume it.');
    expect(sentences('baton/bat-1 is at 4e03c01')).toBe('baton/bat-1 is at 4e03c01.');
  });
});
