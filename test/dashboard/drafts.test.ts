import { describe, expect, it } from 'vitest';
import { draftOf, keepDraft } from '../../dashboard/data/page/drafts.ts';
import {
  closeForm,
  isAnswering,
  isJustOpened,
  noteAnswering,
  openForm,
  openFormAt,
  placesInUse,
  turnForm,
} from '../../dashboard/data/page/open-forms.ts';

describe('unsent input', () => {
  it('distinguishes an emptied field from an untouched one', () => {
    expect(draftOf('a/title')).toBeNull();
    keepDraft('a/title', '');
    expect(draftOf('a/title')).toBe('');
    keepDraft('a/title', null);
    expect(draftOf('a/title')).toBeNull();
  });

  it('stays in the same open form when it will be sent as another action', () => {
    openForm('running/p/r1', 'issue_steer');
    const form = openFormAt('running/p/r1');
    turnForm('running/p/r1', 'retry_with_note');
    expect(openFormAt('running/p/r1')).toEqual({ action: 'retry_with_note', id: form?.id });
    openForm('running/p/r1', 'issue_steer');
    expect(openFormAt('running/p/r1')?.id).not.toBe(form?.id);
    closeForm('running/p/r1');
    expect(openFormAt('running/p/r1')).toBeNull();
    // No other form is opened.
    turnForm('running/p/r1', 'issue_steer');
    expect(openFormAt('running/p/r1')).toBeNull();
  });

  it('focuses a form once, when a person opened it', () => {
    openForm('one', 'issue_steer');
    const one = openFormAt('one');
    openForm('two', 'issue_steer');
    const two = openFormAt('two');
    if (one === null || two === null) throw new Error('a form is not open');
    expect(isJustOpened(one)).toBe(false);
    expect([isJustOpened(two), isJustOpened(two)]).toEqual([true, false]);
    closeForm('one');
    closeForm('two');
  });

  it('keeps a place in use while a note or an answer is typed there', () => {
    openForm('needs_you/p/k', 'retry_with_note');
    noteAnswering('q1', 'needs_you/p/k');
    noteAnswering('q2', 'needs_you/p/other');
    closeForm('needs_you/p/k');
    expect([...placesInUse()].sort()).toEqual(['needs_you/p/k', 'needs_you/p/other']);
    noteAnswering('q1', null);
    expect([...placesInUse()]).toEqual(['needs_you/p/other']);
    expect([isAnswering('q1'), isAnswering('q2')]).toEqual([false, true]);
    noteAnswering('q2', null);
    expect(placesInUse().size).toBe(0);
  });
});
