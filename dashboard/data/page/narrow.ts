import { type ReadonlySignal, signal } from '@preact/signals';

const query = matchMedia('(max-width: 640px)');
const narrow = signal(query.matches);
query.addEventListener('change', ({ matches }) => {
  narrow.value = matches;
});

/** As on a phone; for cases that a style sheet cannot cover, such as the height of a row that is not drawn. */
export const isNarrow: ReadonlySignal<boolean> = narrow;
