import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { send } from '../../data/connection/actions.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { showNotice } from '../../data/page/notices.ts';
import { issueHref } from '../../data/page/router.ts';
import { sentences } from '../../data/text/words.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Text } from '../shared/text.tsx';
import { hint } from '../shared/tooltip.tsx';

export const issueFields = ['title', 'description', 'priority', 'labels', 'blockers', 'status', 'parent'] as const;

export type IssueField = (typeof issueFields)[number];

/** The text fields of an issue, as a person types them. */
export type IssueWords = Readonly<Record<IssueField, string>>;

interface IssueDialogProps {
  readonly project: string;
  /** Which dialog it is (`data-part`): the command that it asks for. */
  readonly part: 'issue_file' | 'issue_edit';
  readonly heading: string;
  /** The typed text is kept under this name when the dialog is closed by mistake. */
  readonly draft: string;
  /** The words of the issue when the dialog was opened. */
  readonly before: IssueWords;
  readonly button: { readonly label: string; readonly busy: string };
  /** The command to send; null when there is nothing to send. */
  readonly request: (after: IssueWords, before: IssueWords) => CommandRequest | null;
  readonly onClose: () => void;
}

/** The fields of an issue, new or not. The dialog shows a refusal, and no typed text is lost by it. */
export function IssueDialog(props: IssueDialogProps): VNode {
  const { project, part, heading, draft, button, request, onClose } = props;
  const refused = useSignal<string | null>(null);
  const isSending = useSignal(false);
  // Keeps the text from when the dialog opened, even if others change the issue meanwhile.
  const before = useMemo(() => props.before, []);
  const draftName = (field: IssueField): string => `${draft}/${field}`;
  // Read once: the user's input stays even when updates arrive.
  const start = useMemo(() => wordsOf((field) => draftOf(draftName(field)) ?? before[field]), []);
  const typed = (field: IssueField) => ({
    name: field,
    defaultValue: start[field],
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }) =>
      keepDraft(draftName(field), value === before[field] ? null : value),
  });
  const submit = async (form: HTMLFormElement): Promise<void> => {
    if (isSending.peek()) return;
    const given = new FormData(form);
    const after = wordsOf((field) => String(given.get(field) ?? ''));
    const asked = request(after, before);
    if (asked === null) return onClose();
    isSending.value = true;
    const answer = await send(project, asked);
    isSending.value = false;
    if ('problem' in answer) {
      refused.value = sentences(answer.problem.message, answer.problem.nextStep);
      return;
    }
    for (const field of issueFields) keepDraft(draftName(field), null);
    const { identifier } = answer.value.facts;
    const href = typeof identifier === 'string' ? issueHref(project, identifier) : null;
    showNotice({ text: sentences(answer.value.text), isRefusal: false, href });
    onClose();
  };
  return (
    <Dialog part={part} title={heading} onClose={onClose}>
      <form
        class="fields"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <label>
          Title
          <input {...typed('title')} required maxLength={500} autocomplete="off" />
        </label>
        <label>
          Description, in Markdown
          <textarea {...typed('description')} placeholder="What the agent should do, and how to see that it is done" />
        </label>
        <div class="side-by-side">
          <label>
            Priority
            <select {...typed('priority')}>
              <option value="">none</option>
              {['1', '2', '3', '4'].map((each) => (
                <option key={each} value={each} selected={start.priority === each}>
                  P{each}
                </option>
              ))}
            </select>
          </label>
          <label>
            Labels, separated by commas
            <input {...typed('labels')} autocomplete="off" />
          </label>
          {part === 'issue_file' && (
            <label>
              Start
              <select {...typed('status')} {...hint('In the backlog it waits until the other issues have started')}>
                <option value="">when its turn comes</option>
                <option value="backlog" selected={start.status === 'backlog'}>
                  later: backlog
                </option>
              </select>
            </label>
          )}
          <label>
            Blocked by these issues, separated by commas
            <input {...typed('blockers')} autocomplete="off" />
          </label>
          {part === 'issue_file' && (
            <label>
              Part of this issue
              <input {...typed('parent')} autocomplete="off" />
            </label>
          )}
        </div>
        {refused.value !== null && (
          <p class="problem" role="alert">
            <Text text={refused.value} />
          </p>
        )}
        <div class="actions">
          <button
            type="submit"
            class="main"
            aria-disabled={isSending.value}
            {...hint('Ctrl+Enter does the same from any field')}
          >
            {isSending.value ? button.busy : button.label}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function wordsOf(of: (field: IssueField) => string): IssueWords {
  // Every field is in it, because the list has them all.
  return Object.fromEntries(issueFields.map((field) => [field, of(field)])) as unknown as IssueWords;
}

/** The names in a text with commas. */
export function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((label) => label.trim())
    .filter(Boolean);
}
