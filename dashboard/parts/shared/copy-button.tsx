import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { later } from '../../data/page/clock.ts';

const toldMs = 2_000;

/** Puts a text into the clipboard, and says whether that worked. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): VNode {
  const told = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    // Without TLS a browser has no clipboard for pages of other machines.
    const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    told.value = isCopied ? 'Copied' : 'Select and copy it by hand';
    later(toldMs, () => {
      told.value = null;
    });
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {told.value ?? label}
    </button>
  );
}
