import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { createRedactor, secretsIn } from '../../../src/core/text/redact.ts';
import { Secret } from '../../../src/core/text/secret.ts';

const key = 'sk-canary-0123456789-account';
const redact = <T>(value: T, secrets: readonly string[] = [key]): T => createRedactor(secrets).redact(value);

describe('secrets in the output of an agent', () => {
  it('are removed everywhere, also in object keys, and all else stays unchanged', () => {
    const given = { text: `a ${key}, b ${key}.`, list: [1, null, [`=${key}`]], [key]: true, other: { deep: 'x' } };
    expect(redact(given)).toEqual({
      text: 'a [secret], b [secret].',
      list: [1, null, ['=[secret]']],
      '[secret]': true,
      other: { deep: 'x' },
    });
    expect(redact(given).other).toBe(given.other);
  });

  it('leave a value without secrets as the same object, so that large messages are not copied', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(redact(value)).toBe(value);
      }),
    );
    const odd = { at: Number.NaN, bytes: new Uint8Array(2), when: new Date(0), secret: new Secret(key) };
    expect(redact(odd)).toBe(odd);
    expect(createRedactor([]).redact(key)).toBe(key);
  });

  it('are nowhere in the result, wherever they are put', () => {
    const secret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => text.trim().length >= 8);
    const around = fc.array(fc.tuple(fc.string(), fc.string()), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(secret, around, (drawn, texts) => {
        // What stands for a secret cannot be one.
        fc.pre(!'[secret]'.includes(drawn.trim()));
        const told = redact({ parts: texts.map(([before, after]) => `${before}${drawn}${after}`) }, [drawn]);
        for (const text of told.parts) expect(text).toContain('[secret]');
        // One that JSON writes otherwise is found in that form too, which may reach into what follows.
        if (JSON.stringify(drawn) !== `"${drawn}"`) return;
        const [, after] = texts[0] ?? ['', ''];
        expect(told.parts[0]?.endsWith(after) || told.parts[0]?.endsWith('[secret]')).toBe(true);
      }),
    );
  });

  it('are found in a text that is itself JSON, and line by line', () => {
    const odd = 'pass"word\\with-quotes';
    expect(redact(JSON.stringify({ odd }), [odd])).toBe('{"odd":"[secret]"}');
    const pem = '-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\nabcdefghijkl\n-----END KEY-----\n';
    for (const line of pem.trim().split('\n')) expect(redact(`> ${line}`, [pem])).toBe('> [secret]');
  });

  // @conforms tools.17
  it('are found where a text was cut in the middle of one', () => {
    for (let left = 8; left < key.length; left += 1) {
      expect(redact(`it is ${key.slice(0, left)}`)).toBe('it is [secret]');
      expect(redact(`it is ${key.slice(0, left)}…`)).toBe('it is [secret]…');
      expect(redact(`${key.slice(-left)} it was`)).toBe('[secret] it was');
    }
    expect(redact(`${key.slice(0, 7)}`)).toBe(key.slice(0, 7));
    expect(redact(`${key.slice(0, 12)} goes on`)).toBe(`${key.slice(0, 12)} goes on`);
    // Repeats itself: the first place where it may begin is not the one.
    expect(redact('x aaaaaaaaaab', ['aaaaaaaaab-and-more'])).toBe('x a[secret]');
  });

  it('that contain one another leave no rest of the longer one', () => {
    expect(redact(`${key}-and-more`, [key, `${key}-and-more`])).toBe('[secret]');
  });

  it('below the minimum length, and empty ones, change nothing', () => {
    const text = 'a yes is a yes';
    expect(redact(text, ['', 'yes', ' yes    ', 'is a yes'.slice(0, 7)])).toBe(text);
  });

  it('that become known later are found from then on', () => {
    const redactor = createRedactor([]);
    redactor.also(key);
    expect(redactor.redact([key])).toEqual(['[secret]']);
  });

  it('are in no part of an error: message, details, stack, causes', () => {
    const cause = new AggregateError([new Error(`inner ${key}`)], 'several', { cause: new TypeError(`of ${key}`) });
    const error = new BatonError('agent_exited', `refused ${key}`, {
      cause,
      details: { exit_code: 3, stderr: `${key}\n` },
      nextStep: `Change ${key}.`,
    });
    const told = redact({ status: 'failed' as const, error }).error;
    expect(told).toBeInstanceOf(BatonError);
    expect(told).toMatchObject({ code: 'agent_exited', message: 'refused [secret]', nextStep: 'Change [secret].' });
    expect(told.details).toEqual({ exit_code: 3, stderr: '[secret]\n' });
    const all = [told, told.cause, (told.cause as AggregateError).errors[0], (told.cause as Error).cause] as Error[];
    for (const each of all) expect(`${each.message}${each.stack}`).not.toContain('canary');
    expect(all.map(({ name }) => name)).toEqual(['BatonError', 'AggregateError', 'Error', 'TypeError']);
    expect(told.stack).toContain('redact.test');
    const harmless = new BatonError('agent_exited', 'x', { cause: new Error('y') });
    expect(redact(harmless)).toBe(harmless);
  });

  it('in endlessly nested or circular values are not searched; such values are left out', () => {
    let deep: unknown = key;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(JSON.stringify(redact(deep))).toContain('[too deep]');
    const circle: Record<string, unknown> = { key };
    circle.self = circle;
    expect(JSON.stringify(redact(circle))).not.toContain('canary');
  });

  it('do not change the type of an object, whatever its field names', () => {
    const told = redact(JSON.parse(`{"__proto__":{"polluted":"${key}"},"x":1}`));
    expect(Object.getPrototypeOf(told)).toBe(Object.prototype);
    expect(JSON.stringify(told)).toBe('{"__proto__":{"polluted":"[secret]"},"x":1}');
  });
});

it('finds every secret in the settings', () => {
  const settings = {
    tracker: { provider: { api_key: new Secret('one') } },
    accounts: [{ env: { KEY: new Secret('two') } }],
  };
  expect(secretsIn([settings, null, 'three'])).toEqual(['one', 'two']);
});
