import { Fragment, type VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { act, type Spot } from '../../data/connection/actions.ts';
import { agentsOf } from '../../data/connection/live.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { closeForm, isJustOpened, openForm, openFormAt, turnForm } from '../../data/page/open-forms.ts';
import { actionNamed, actionsNamed, type IssueAction } from '../../data/text/command-words.ts';
import { ActionButton } from '../shared/action-button.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';
import { hint } from '../shared/tooltip.tsx';
import { NoteForm } from './note-form.tsx';

interface IssueActionsInput {
  readonly spot: Spot;
  /** Where on the page this is. An open form stays open there. */
  readonly place: string;
  /** Null ids if the row is about no issue; then there are no buttons. */
  readonly issue: { readonly issue_id: string | null; readonly issue_identifier: string | null };
  /** The daemon's names of the commands; the first one is the best. */
  readonly actions: readonly string[];
  readonly hasMain?: boolean;
  /** The run that the person sees here. */
  readonly run?: string | undefined;
  /** The row has gone; only its form is left. */
  readonly isGone?: boolean;
}

interface IssueActionsParts {
  readonly buttons: VNode;
  /** The open form, and the result of the last action; for the line below. */
  readonly below: VNode;
}

/** The buttons for an issue, and the content below them. Two parts, because a row has them in different places. */
export function useIssueActions(input: IssueActionsInput): IssueActionsParts {
  const { spot, place, issue, actions, run, hasMain = false, isGone = false } = input;
  const openers = useRef<HTMLDivElement>(null);
  const id = issue.issue_id;
  const agents = agentsOf(spot.project);
  const offered = id === null ? [] : actionsNamed(actions, agents);
  const form = openFormAt(place);
  const asking = form === null ? null : actionNamed(form.action);
  const draftFor = (action: IssueAction): string => `${spot.project}/${spot.name}/${action.name}`;
  const close = (): void => {
    // Move the focus before the form disappears, so that it is never lost; not if the user is elsewhere by now.
    if (document.activeElement?.closest('.note') !== null)
      openers.current?.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
    closeForm(place);
  };
  const turn = (from: IssueAction, to: IssueAction): void => {
    keepDraft(draftFor(to), draftOf(draftFor(from)));
    keepDraft(draftFor(from), null);
    turnForm(place, to.name);
  };
  const button = (action: IssueAction, index: number): VNode => {
    const common = {
      label: action.label,
      hint: action.hint,
      name: `${action.label.replace('…', '')}: ${issue.issue_identifier ?? ''}`,
      isMain: hasMain && index === 0,
    };
    if (action.asks === undefined) {
      const { confirm } = action;
      const request = action.request(id ?? '', '', run);
      return <ActionButton {...common} {...(confirm === undefined ? {} : { confirm })} spot={spot} request={request} />;
    }
    const isOpen = asking === action;
    return (
      <button
        type="button"
        data-part={action.name}
        class={common.isMain ? 'main' : ''}
        aria-label={common.name}
        aria-expanded={isOpen}
        {...hint(action.hint)}
        onClick={() => (isOpen ? closeForm(place) : openForm(place, action.name))}
        onKeyDown={(event) => {
          if (event.repeat && event.key === 'Enter') event.preventDefault();
        }}
      >
        {action.label}
      </button>
    );
  };
  return {
    buttons: (
      <div class="actions" ref={openers}>
        {!isGone && offered.map((action, index) => <Fragment key={action.name}>{button(action, index)}</Fragment>)}
      </div>
    ),
    below: (
      <>
        {form !== null && asking !== null && (
          <NoteForm
            key={form.id}
            action={asking}
            draft={draftFor(asking)}
            agents={asking.choosesAgent === true ? agents : []}
            isOffered={offered.includes(asking)}
            isGone={isGone}
            others={offered.filter((other) => other.asks !== undefined && other !== asking)}
            onTurn={(other) => turn(asking, other)}
            onShown={(field) => {
              if (isJustOpened(form)) field.focus();
            }}
            onSend={async (text, agent) => (await act(spot, asking.request(id ?? '', text, run, agent))) !== null}
            onClose={close}
          />
        )}
        <ActionFeedback spot={spot} />
      </>
    ),
  };
}

/**
 * The spot of an issue: every place that shows the issue shows the result of an action. On Now only one of its rows
 * does.
 */
export function issueSpot(project: string, issueId: string, stamp: string, place?: string): Spot {
  return { project, name: `issue/${issueId}`, stamp, ...(place === undefined ? {} : { row: { place, issueId } }) };
}
