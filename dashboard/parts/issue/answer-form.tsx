import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import type { Question } from '../../../src/client/schema/question.ts';
import { act, type Spot } from '../../data/connection/actions.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { noteAnswering } from '../../data/page/open-forms.ts';
import { isHeldEnter, isSendKey, sendKeyWords } from '../../data/page/send-key.ts';
import { ActionButton } from '../shared/action-button.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown } from '../shared/time.tsx';
import { hint } from '../shared/tooltip.tsx';

interface AnswerFormProps {
  readonly question: Question;
  readonly spot: Spot;
  /** Its place on the page. Text that is being typed there stays. */
  readonly place: string;
  /** False when the question is no longer open; then the form only stays because an answer was being typed. */
  readonly isOpen: boolean;
}

type Field = Question['fields'][number];

/** Answers a question in place: by yes, always or no, or by the requested values. */
export function AnswerForm(props: AnswerFormProps): VNode {
  const { question, isOpen } = props;
  return (
    <div class="answer">
      <p class="asked">
        <Text text={question.text} lines />
      </p>
      {question.detail !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a long one.
        <pre tabIndex={0}>
          <Text text={question.detail} lines />
        </pre>
      )}
      {question.fields.length === 0 ? <Decision {...props} /> : <Values {...props} />}
      <p class="quiet-text">
        {!isOpen ? (
          'This question is closed: someone answered it, or its run is over. Your text stays until you discard it.'
        ) : question.waits_until === null ? (
          'The agent has stopped. Your answer goes to its next run.'
        ) : (
          <>
            The agent is waiting. It stops <Countdown at={question.waits_until} />; a later answer goes to the next run.
          </>
        )}
      </p>
    </div>
  );
}

function Decision({ question, spot }: AnswerFormProps): VNode {
  const request = (decision: 'accept' | 'accept_for_session' | 'decline'): CommandRequest => ({
    kind: 'question_answer',
    question: question.id,
    decision,
  });
  const of = question.issue_identifier;
  return (
    <div class="actions">
      <ActionButton
        spot={spot}
        request={request('accept')}
        label="Yes"
        name={`Yes: ${of}`}
        part="question_accept"
        hint="Allow it this time; the agent continues"
        isMain
      />
      <ActionButton
        spot={spot}
        request={request('accept_for_session')}
        label="Always"
        name={`Always: ${of}`}
        part="question_accept_for_session"
        hint="Allow it now and whenever this run asks for the same again"
      />
      <ActionButton
        spot={spot}
        request={request('decline')}
        label="No"
        name={`No: ${of}`}
        part="question_decline"
        hint="Do not allow it; the agent continues without it"
      />
    </div>
  );
}

function Values({ question, spot, place, isOpen }: AnswerFormProps): VNode {
  const missing = useSignal<Field | null>(null);
  const secrets = question.fields.filter(({ is_secret }) => is_secret);
  const decline: CommandRequest = { kind: 'question_answer', question: question.id, decision: 'decline' };
  const draft = (field: Field): string => `question/${question.id}/${field.name}`;
  const forget = (): void => {
    for (const field of question.fields) {
      keepDraft(draft(field), null);
      keepDraft(`${draft(field)}/option`, null);
    }
    noteAnswering(question.id, null);
  };
  const send = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const values = Object.fromEntries(question.fields.map((field) => [field.name, valueIn(given, field)]));
    missing.value = question.fields.find(({ name }) => (values[name] ?? '').trim() === '') ?? null;
    if (missing.value !== null) return;
    const isDone = await act(spot, { kind: 'question_answer', question: question.id, values });
    if (isDone !== null) forget();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isOpen) void send(event.currentTarget);
      }}
      onKeyDown={(event) => {
        if (isSendKey(event) && isOpen) void send(event.currentTarget);
      }}
    >
      {question.fields.map((field) =>
        field.is_secret ? (
          <p key={field.name} class="secret">
            <Text text={field.label} />: you cannot enter a secret here, because answers are recorded. Take the issue
            over and enter it by hand, or decline.
          </p>
        ) : (
          <ValueField
            key={field.name}
            field={field}
            draft={draft(field)}
            onTyped={() => {
              const isTyped = question.fields.some((each) => draftOf(draft(each)) !== null);
              noteAnswering(question.id, isTyped ? place : null);
            }}
          />
        ),
      )}
      {missing.value !== null && (
        <p class="problem" role="alert">
          {missing.value.options.length === 0 ? 'Write an answer first.' : 'Choose an answer first.'}
        </p>
      )}
      <div class="actions">
        {!isOpen && (
          <button type="button" data-part="discard" onClick={forget}>
            Discard
          </button>
        )}
        {isOpen && secrets.length === 0 && (
          <button
            type="submit"
            class="main"
            data-part="question_answer"
            aria-label={`Answer: ${question.issue_identifier}`}
            {...hint('Send the answer to the agent, or to its next run if it has stopped')}
          >
            Answer
          </button>
        )}
        {isOpen && (
          <ActionButton
            spot={spot}
            request={decline}
            label="Decline"
            name={`Decline: ${question.issue_identifier}`}
            part="question_decline"
            hint="Send no answer; the agent decides by itself and continues"
          />
        )}
        {isOpen && secrets.length === 0 && <small class="send-key">{sendKeyWords} sends</small>}
      </div>
    </form>
  );
}

/** Typed text takes precedence over a chosen option. */
function valueIn(given: FormData, { name }: Field): string {
  const typed = String(given.get(`other/${name}`) ?? '');
  return typed.trim() === '' ? String(given.get(`option/${name}`) ?? '') : typed;
}

interface ValueFieldProps {
  readonly field: Field;
  readonly draft: string;
  readonly onTyped: () => void;
}

function ValueField({ field, draft, onTyped }: ValueFieldProps): VNode {
  // Read once; later the user's choice on the page counts.
  const chosen = useMemo(() => draftOf(`${draft}/option`), []);
  const hasText = field.options.length === 0 || field.allows_other;
  return (
    <fieldset>
      <legend>
        <Text text={field.label} />
      </legend>
      {field.options.map((option) => (
        <label key={option} class="option">
          <input
            type="radio"
            name={`option/${field.name}`}
            value={option}
            defaultChecked={option === chosen}
            onChange={() => keepDraft(`${draft}/option`, option)}
          />
          <Text text={option} />
        </label>
      ))}
      {hasText && (
        <textarea
          name={`other/${field.name}`}
          rows={2}
          aria-label={field.options.length === 0 ? field.label : `${field.label}: another answer`}
          placeholder={field.options.length === 0 ? '' : 'Another answer'}
          defaultValue={draftOf(draft) ?? ''}
          onInput={({ currentTarget: { value } }) => {
            keepDraft(draft, value === '' ? null : value);
            onTyped();
          }}
          onKeyDown={(event) => {
            if (isHeldEnter(event)) event.preventDefault();
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
      )}
    </fieldset>
  );
}
