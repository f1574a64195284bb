import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { showNotice } from '../page/notices.ts';
import { sentences } from '../text/words.ts';
import { send } from './actions.ts';

/** Sends a command and shows the result at the bottom of the page, for actions without space next to their subject. */
export async function sendAndNotify(project: string, asked: CommandRequest): Promise<void> {
  const answer = await send(project, asked);
  if ('value' in answer) {
    showNotice({ text: sentences(answer.value.text), isRefusal: answer.value.status === 'refused' });
    return;
  }
  const { status, message, nextStep } = answer.problem;
  const start =
    status === 0 ? 'No answer. Press again; Baton carries the command out only once.' : `Refused: ${message}`;
  showNotice({ text: sentences(start, nextStep), isRefusal: true });
}
