import type { BoardDetail, BoardIssue as PresentedIssue } from '../../client/schema/board.ts';
import { BatonError } from '../../core/baton-error.ts';
import { whyNotForRuns } from '../../core/command/command.ts';
import { outcomeWords } from '../../core/run/outcome-words.ts';
import { publicationText } from '../../core/run/run-evidence.ts';
import { certainTime } from '../../core/text/time-text.ts';
import type { ApiBoard } from '../../server/api/api-project.ts';
import { commentStatuses } from '../../server/api/present/comment-status.ts';
import { presentAuthor } from '../../server/api/present/present-command.ts';
import { presentMessages } from '../../server/api/present/present-message.ts';
import type { Store } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { Board } from '../../tracker/board/board.ts';
import { readImport } from '../../tracker/board/import/read-import.ts';
import type { IssueDetails } from '../../tracker/board/read-board.ts';

/** Baton's own board for the API. Single changes of its issues are commands; an import is too large for the queue. */
export function boardService(board: Board, store: Store): ApiBoard {
  const present = (issues: readonly BoardIssue[]): Promise<PresentedIssue[]> => presentIssues(board, issues);
  return {
    columns: async (limit) => {
      const columns = await board.columns(limit);
      return {
        columns: await Promise.all(
          columns.map(async (column) => ({ ...column, issues: await present(column.issues) })),
        ),
      };
    },
    list: async ({ limit, ...query }) => {
      // One more than requested shows whether there are more.
      const found = await board.list({ ...query, limit: limit + 1 });
      return { issues: await present(found.slice(0, limit)), more: found.length > limit };
    },
    show: async (name) => {
      const { id } = await board.find(name);
      const key = { project: board.project, issueId: id };
      const [details, lastRun, messages, questions, statusOf] = await Promise.all([
        board.details(id),
        store.runs.latestOfIssue(key),
        presentMessages(store, key),
        store.questions.open(board.project),
        commentStatuses(store, key),
      ]);
      const [issue] = await present([details.issue]);
      return {
        // `present` returns one for each issue.
        issue: issue as PresentedIssue,
        ...presentDetails(details, statusOf),
        messages,
        open_questions: questions
          .filter((question) => question.issueId === id)
          .map(({ id: question, question: { kind, text }, askedAt }) => ({
            id: question,
            kind,
            text,
            asked_at: certainTime(askedAt),
          })),
        last_run: lastRun === null ? null : presentLastRun(lastRun),
      };
    },
    import: async ({ format, content, reason }, author) => {
      const notForRuns = author.kind === 'run' ? whyNotForRuns('issue_file', false) : null;
      if (notForRuns !== null)
        throw new BatonError('command_refused', notForRuns, { details: { code: 'not_for_agents' } });
      const entries = readImport(Buffer.from(content, 'base64'), format);
      const { created, known } = await board.import(entries, { author, reason: reason ?? null });
      return { created: await present(created), known: await present(known) };
    },
  };
}

async function presentIssues(board: Board, issues: readonly BoardIssue[]): Promise<PresentedIssue[]> {
  const parents = await board.parentsOf(issues);
  return issues.map((issue) => ({
    identifier: issue.identifier,
    id: issue.id,
    title: issue.title,
    status: issue.status,
    priority: issue.priority,
    labels: [...issue.labels],
    description: issue.description,
    parent: issue.parentId === null ? null : (parents.get(issue.parentId) ?? null),
    blocked_by: issue.blockers.map(({ identifier, status }) => ({ identifier, status })),
    branch: issue.branch,
    url: issue.url,
    created_at: certainTime(issue.createdAt),
    updated_at: certainTime(issue.updatedAt),
  }));
}

function presentDetails(
  { parent, children, blocks, comments, history }: IssueDetails,
  statusOf: Awaited<ReturnType<typeof commentStatuses>>,
): Pick<BoardDetail, 'parent' | 'children' | 'blocks' | 'comments' | 'history'> {
  const short = ({ identifier, status, title }: BoardIssue): BoardDetail['blocks'][number] => ({
    identifier,
    status,
    title,
  });
  return {
    parent: parent === null ? null : short(parent),
    children: children.map(short),
    blocks: blocks.map(short),
    comments: comments.map((comment) => ({
      seq: comment.seq,
      at: certainTime(comment.at),
      author: presentAuthor(comment.author),
      body: comment.body,
      status: statusOf(comment),
    })),
    history: history.map((entry) => ({ ...entry, at: certainTime(entry.at), author: presentAuthor(entry.author) })),
  };
}

function presentLastRun(run: RunRecord): BoardDetail['last_run'] {
  const { runId, finish, startedAt, evidence, removal } = run;
  const branch = evidence?.git?.branch ?? null;
  const isRemoved = removal !== null && removal.keptBecause === null;
  return {
    run_id: runId,
    outcome: finish?.outcome ?? null,
    error_message: finish?.errorMessage ?? null,
    started_at: certainTime(startedAt),
    branch: evidence?.publication?.branch ?? branch,
    text: finish === null ? 'in progress' : outcomeWords(finish),
    work:
      evidence?.publication !== undefined
        ? publicationText(evidence.publication, isRemoved)
        : branch === null
          ? null
          : `on ${branch} in its workspace`,
  };
}
