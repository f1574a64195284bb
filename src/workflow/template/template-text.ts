/**
 * How a value stands in a prompt: a list is joined without a separator, as Liquid does it; a map is JSON, because
 * `[object Object]` would tell an agent nothing.
 */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join('');
  return isPlainObject(value) ? JSON.stringify(value) : String(value);
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
