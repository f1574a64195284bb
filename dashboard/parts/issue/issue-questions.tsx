import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Question } from '../../../src/client/schema/question.ts';
import { isAnswering } from '../../data/page/open-forms.ts';
import { plainWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime } from '../shared/time.tsx';
import { AnswerForm } from './answer-form.tsx';
import { issueSpot } from './issue-actions.tsx';
import { issuePlace, stampOf } from './issue-commands.tsx';
import { authorWords } from './issue-history.tsx';

interface IssueQuestionsProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

/** The open questions; above everything else. */
export function OpenQuestions({ project, issue }: IssueQuestionsProps): VNode | null {
  const open = issue.questions.filter(({ id, state }) => state === 'open' || isAnswering(id));
  if (open.length === 0) return null;
  const spot = issueSpot(project, issue.id, stampOf(issue));
  return (
    <section class="open-questions" aria-label="Questions for you">
      {open.map((question) => (
        <div key={question.id} class="tone needs">
          <AnswerForm
            question={question}
            spot={spot}
            place={issuePlace(project, issue.id)}
            isOpen={question.state === 'open'}
          />
        </div>
      ))}
    </section>
  );
}

/** The earlier questions and their answers. */
export function PastQuestions({ issue }: { readonly issue: IssueDetail }): VNode {
  const past = issue.questions.filter(({ state }) => state !== 'open');
  if (past.length < issue.questions.length && past.length === 0)
    return <EmptyLine>The open question is above. No others yet.</EmptyLine>;
  if (past.length === 0) return <EmptyLine>No questions yet.</EmptyLine>;
  return (
    <ul class="past-list">
      {past.map((question) => (
        <li key={question.id}>
          <ClockTime at={question.asked_at} />
          <div>
            <p class="asked">
              <Text text={question.text} lines />
            </p>
            {question.detail !== '' && (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a long one.
              <pre tabIndex={0}>
                <Text text={question.detail} lines />
              </pre>
            )}
            <Answered question={question} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function Answered({ question: { answer, fields } }: { readonly question: Question }): VNode {
  if (answer === null) return <p class="quiet-text">Closed without an answer.</p>;
  return (
    <p>
      <strong>{decisionWords(answer.decision, fields.length > 0)}</strong>
      {Object.entries(answer.values).map(([name, value]) => (
        <span key={name}>
          {' · '}
          <Text text={fields.find((field) => field.name === name)?.label ?? name} />: <Text text={value} />
        </span>
      ))}{' '}
      <small>
        by {authorWords(answer.author)}, <ClockTime at={answer.at} />
        {answer.delivered_to === null && ', not yet sent to an agent'}
      </small>
    </p>
  );
}

function decisionWords(decision: string, hasFields: boolean): string {
  if (decision === 'accept') return hasFields ? 'Answered' : 'Yes';
  if (decision === 'accept_for_session') return 'Yes, always';
  return decision === 'decline' ? 'No' : plainWords(decision);
}
