import type { Message } from '../../../client/schema/message.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { IssueKey } from '../../../store/issue-key.ts';
import type { StoreTables } from '../../../store/store.ts';
import { presentAuthor } from './present-command.ts';

const messagesShown = 50;
const longestBody = 4_000;

/** The latest messages to the agents of an issue, the oldest first. */
export async function presentMessages(
  { messages, runs }: Pick<StoreTables, 'messages' | 'runs'>,
  key: IssueKey,
): Promise<Message[]> {
  const [found, last] = await Promise.all([messages.list(key, messagesShown), runs.latestOfIssue(key)]);
  const inProgress = last?.finish === null ? last.runId : undefined;
  return found.map(({ id, at, kind, author, body, path, line, commit, givenTo, settledAt }) => ({
    id,
    at: certainTime(at),
    kind,
    author: presentAuthor(author),
    body: body.length <= longestBody ? body : `${body.slice(0, longestBody - 1).toWellFormed()}…`,
    path,
    line,
    commit,
    status: settledAt !== null || givenTo === inProgress ? 'delivered' : 'waiting',
    run_id: givenTo,
  }));
}
