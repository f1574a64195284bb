import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { mostArtifactBytes } from '../../../src/core/pipeline/phase.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { draftOf, keepDraft } from '../../data/page/drafts.ts';
import { isSendKey, sendKeyWords } from '../../data/page/send-key.ts';

interface ArtifactFormProps {
  readonly spot: Spot;
  readonly issue: string;
  readonly phase: string;
  /** The version that the user starts from. */
  readonly text: string;
  readonly onStored: () => void;
}

/** The user's own version of an artifact. It is kept as a draft until it is stored. */
export function ArtifactForm({ spot, issue, phase, text, onStored }: ArtifactFormProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = `artifact/${spot.project}/${issue}/${phase}`;
  const isSending = isSendingAt(spot);
  const store = async (): Promise<void> => {
    const written = field.current?.value ?? '';
    if (written.trim() === '') return field.current?.focus();
    if ((await act(spot, { kind: 'artifact_put', issue, phase, text: written })) === null) return;
    keepDraft(draft, null);
    onStored();
  };
  return (
    <form
      class="send-back"
      data-part="artifact_put"
      onSubmit={(event) => {
        event.preventDefault();
        void store();
      }}
    >
      <textarea
        ref={field}
        rows={14}
        maxLength={mostArtifactBytes}
        aria-label={`Your version of the artifact of ${phase}`}
        defaultValue={draftOf(draft) ?? text}
        readOnly={isSending}
        onInput={({ currentTarget: { value } }) => keepDraft(draft, value === text ? null : value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (isSendKey(event)) void store();
        }}
      />
      <div class="actions">
        <button type="submit" class="main" aria-disabled={isSending}>
          Store as the newest version
        </button>
        <small class="send-key">{sendKeyWords} stores</small>
      </div>
    </form>
  );
}
