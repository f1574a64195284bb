import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { tellNotice } from '../page/notices.ts';
import { sentences } from '../text/words.ts';
import { send } from './actions.ts';

/** Sends a command and shows the result at the bottom of the page: for where there is no space next to its subject. */
export async function sendAndTell(project: string, asked: CommandRequest): Promise<void> {
  const answer = await send(project, asked);
  if ('value' in answer) {
    tellNotice({ text: sentences(answer.value.text), isRefusal: answer.value.status === 'refused' });
    return;
  }
  const { status, message, nextStep } = answer.problem;
  const start = status === 0 ? 'No answer. Press again: it is carried out once.' : `Refused: ${message}`;
  tellNotice({ text: sentences(start, nextStep), isRefusal: true });
}
