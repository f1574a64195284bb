interface View {
  /** The scroll position and the visible height, in pixels. */
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows beyond the visible ones, on both sides: a quick scroll shows no gap, and the next row exists to be focused. */
const around = 8;

/** Which rows of a list are drawn: from the first to before the last. */
export function windowOf({ top, height, rowHeight, count }: View): { readonly from: number; readonly to: number } {
  const visible = Math.ceil(height / rowHeight) + 1;
  const first = Math.floor(Math.max(0, top) / rowHeight);
  // A list that became shorter is not scrolled back at once.
  const from = Math.max(0, Math.min(first, count - visible) - around);
  return { from, to: Math.min(count, Math.max(first, 0) + visible + around) };
}
