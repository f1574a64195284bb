import type { VNode } from 'preact';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { chooseEditor, editor, editorHref, editorNames } from '../../data/page/editor-choice.ts';
import { CopyLine } from '../issue/issue-takeover.tsx';

/** Where the work is: a link to the person's editor, and what to type in a terminal. */
export function OpenInEditor({ pull }: { readonly pull: PullDetail }): VNode {
  const { workspace_path: folder, checkout_command } = pull;
  const href = folder === null ? null : editorHref(folder);
  return (
    <div class="open-in-editor" data-part="open_in_editor">
      {href !== null && (
        <a href={href} title="Open the workspace of the agent in your editor">
          Open in {editorNames.find(({ name }) => name === editor.value)?.label}
        </a>
      )}
      <details>
        <summary>{href === null ? 'Open the branch' : 'or elsewhere'}</summary>
        {href !== null && (
          <label>
            Your editor{' '}
            <select value={editor.value} onChange={({ currentTarget: { value } }) => chooseEditor(value)}>
              {editorNames.map(({ name, label }) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
        {folder !== null && <CopyLine name="path" text={folder} />}
        <CopyLine name="command" text={checkout_command} />
      </details>
    </div>
  );
}
