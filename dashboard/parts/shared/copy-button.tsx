import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { later } from '../../data/page/clock.ts';

const resultMs = 2_000;

/** Puts a text into the clipboard, and says whether that worked. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): VNode {
  const result = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    // Without TLS a browser gives pages of other machines no clipboard.
    const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    result.value = isCopied ? 'Copied' : 'Could not copy. Select the text and copy it';
    later(resultMs, () => {
      result.value = null;
    });
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {result.value ?? label}
    </button>
  );
}
