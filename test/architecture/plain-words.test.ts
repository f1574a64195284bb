import { describe, expect, it } from 'vitest';
import { findWords, wordsIn } from '../../scripts/plain-words.ts';

it('texts that people read have no word with a plainer one', () => {
  expect(findWords()).toEqual([]);
});

describe('the list of words', () => {
  it.each([
    ['Mend the file', 1],
    ['it is told to whoever asks', 2],
    ['the life cycle of a look at life', 0],
    ['an earlier life, the next look', 2],
    ['as long as it looks like one', 0],
    ['without asking back, it goes on with both in the same time', 3],
    ['it goes on, and asks for its money back', 0],
  ])('finds in "%s" %i', (text, count) => {
    expect(wordsIn(text)).toHaveLength(count);
  });

  it('names the line and the plain word', () => {
    expect(wordsIn('one\na ticket')).toEqual([{ line: 2, word: 'ticket', say: 'issue' }]);
  });
});
