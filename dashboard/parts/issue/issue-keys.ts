import { type KeyBinding, useKeys } from '../../data/page/keyboard.ts';
import { showNotice } from '../../data/page/notices.ts';

/** The keys of an issue, as `baton top` has them. `press` makes the one of an action; `answer` goes to the question. */
export function issueKeys(
  press: (keys: string, label: string, part: string) => KeyBinding,
  answer: () => void,
): KeyBinding[] {
  return [
    { keys: 'a', label: 'answer the question', part: 'question_answer', run: answer },
    press('t', 'steer: send a message to the agent', 'issue_steer'),
    press('s', 'stop the run (twice)', 'issue_stop'),
    press('r', 'retry now', 'issue_retry'),
    press('R', 'retry with a note', 'retry_with_note'),
    press('o', 'take over (twice)', 'issue_takeover'),
    press('h', 'hand back', 'issue_handback'),
  ];
}

/** On the page of an issue and on that of its run. */
export function useIssueKeys(): void {
  useKeys(issueKeys(pageKey, focusAnswer));
}

/** A key that presses a button of the page's subject. */
function pageKey(keys: string, label: string, part: string): KeyBinding {
  const run = (): void => {
    const button = document.querySelector<HTMLElement>(`main [data-home] [data-part="${part}"]:is(button, a)`);
    button?.focus();
    button?.click();
    if (button === null) showNotice({ text: `“${label}” is not possible now.`, isRefusal: false });
  };
  return { keys, label, part, run };
}

/** Goes to the first field of the question. */
function focusAnswer(): void {
  const field = document.querySelector<HTMLElement>(
    'main .answer :is(input:checked, input, textarea, [data-part="question_accept"])',
  );
  field?.focus();
  if (field === null) showNotice({ text: 'No question is open.', isRefusal: false });
}
