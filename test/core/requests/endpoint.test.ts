import { expect, it } from 'vitest';
import { isLoopback, isSecureEnough } from '../../../src/core/requests/endpoint.ts';

it.each([
  'https://api.linear.app/graphql',
  'https://127.0.0.1/',
  'http://localhost:3000/graphql',
  'http://LOCALHOST./',
  'http://tracker.localhost/',
  'http://127.0.0.1:80/',
  'http://127.255.255.254/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://[::1]:8080/',
  'http://[0:0:0:0:0:0:0:1]/',
])('allows a credential for %s', (address) => {
  expect(isSecureEnough(address, false)).toBe(true);
});

// @conforms requests.9
it.each([
  'http://api.linear.app/graphql',
  'http://127.0.0.1.evil.example/',
  'http://localhost.evil.example/',
  'http://notlocalhost/',
  'http://localhost@evil.example/',
  'http://evil.example/#localhost',
  'http://128.0.0.1/',
  'http://0.0.0.0/',
  'http://10.0.0.1/',
  'http://[::2]/',
])('allows a credential for %s only with the setting', (address) => {
  expect(isSecureEnough(address, false)).toBe(false);
  expect(isSecureEnough(address, true)).toBe(true);
});

it.each([
  '',
  'linear',
  'ftp://localhost/',
  'file:///etc/passwd',
  '//localhost/',
  'http://',
  'javascript:1',
  'http:// /',
])('rejects anything that is not the address of a service: %j', (address) => {
  expect(isSecureEnough(address, false)).toBe(false);
  expect(isSecureEnough(address, true)).toBe(false);
});

it('recognises this machine in every spelling of URL', () => {
  expect(['localhost', 'a.b.localhost', '127.9.9.9', '[::1]'].every(isLoopback)).toBe(true);
  expect(['localhost.com', '1127.0.0.1', '127.0.0', '::', ''].some(isLoopback)).toBe(false);
});
