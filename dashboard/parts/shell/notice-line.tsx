import type { VNode } from 'preact';
import { dismissNotice, notice } from '../../data/page/notices.ts';
import { Text } from '../shared/text.tsx';

/** One line at the bottom that tells what came of the last action. */
export function NoticeLine(): VNode | null {
  const told = notice.value;
  if (told === null) return null;
  return (
    <output class={told.isRefusal ? 'notice refused' : 'notice'}>
      <Text text={told.text} lines />
      <button type="button" class="quiet" onClick={dismissNotice}>
        Dismiss
      </button>
    </output>
  );
}
