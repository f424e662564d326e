import { describe, expect, it } from 'vitest';
import { messageIdOf, uuidOfName } from './message-id.js';

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const SESSION = '019ab000-0000-0123-4567-89abcdef0123';

describe('the id of a message', () => {
  it('is a UUID of version 5, as the example of RFC 9562, A.4', () => {
    expect(uuidOfName(DNS, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });

  it('is constant per session, so that a repeated send is one message', () => {
    expect(messageIdOf(SESSION, 'card')).toBe('e46dff53-04be-5152-931c-d9ccd7e8921b');
    expect(messageIdOf(SESSION, 'closing')).toBe('6109f39c-fc69-5b00-9e74-8f61c0c165c6');
  });

  it('differs between sessions', () => {
    expect(messageIdOf(SESSION.replace('0123', '0124'), 'card')).not.toBe(messageIdOf(SESSION, 'card'));
  });
});
