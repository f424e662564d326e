import type { Card, Suggestion, Verdict } from '@countersign/rcs/rules';
import { idTimeMs } from '@countersign/ids';

/** The inputs of the card's message. Its request time is that of its id. */
export type CardContent = Pick<Card, 'id' | 'brandName' | 'logoUrl' | 'numberMatching' | 'expiresAt'>;

/** An AgentMessage of RCS Business Messaging. */
export type AgentMessage = Readonly<Record<string, unknown>>;

// Limits of the platform, in characters (guide, Send messages).
const MAX_TITLE = 200;
const MAX_SUGGESTIONS = 4;
const MAX_SUGGESTION_TEXT = 25;
const MAX_POSTBACK = 2_048;
const MAX_URL = 2_048;

/** Without a TTL a phone that was off shows the text days later; below 10 s the TTL races with the platform's events. */
const CLOSING_TTL = '120s';

/** One-time passwords and sign-ins. Without it the platform assumes the agent's use case. */
const TRAFFIC = 'AUTHENTICATION';

/**
 * The approval card: title, two short lines, because phones hide the buttons below longer texts, the logo if any, and the
 * buttons. It expires with its session. Throws a RangeError when a button exceeds a limit of the platform.
 */
export function approvalMessage(card: CardContent, suggestions: readonly Suggestion[]): AgentMessage {
  const media = mediaOf(card.logoUrl);
  const cardContent = {
    title: truncate(`Sign in to ${card.brandName}?`, MAX_TITLE),
    description: linesOf(card).join('\n'),
    ...(media === null ? {} : { media }),
    suggestions: repliesOf(suggestions),
  };
  return {
    contentMessage: { richCard: { standaloneCard: { cardOrientation: 'VERTICAL', cardContent } } },
    messageTrafficType: TRAFFIC,
    expireTime: card.expiresAt.toISOString(),
  };
}

/** The text sent after a tap, because the card with its buttons stays on the screen. */
export function closingMessage(card: Pick<Card, 'brandName'>, verdict: Verdict): AgentMessage {
  const text =
    verdict === 'approve'
      ? `You approved this sign-in to ${card.brandName}.`
      : `You denied this sign-in to ${card.brandName}. Nobody was let in.`;
  return { contentMessage: { text }, messageTrafficType: TRAFFIC, ttl: CLOSING_TTL };
}

/** The request time lets a person recognize a prompt that they did not cause (push bombing). */
function linesOf({ id, numberMatching }: CardContent): readonly [string, string] {
  // UTC, because the phone's time zone is unknown.
  const requested = `Requested at ${new Date(idTimeMs(id)).toISOString().slice(11, 16)} UTC.`;
  return numberMatching
    ? [`${requested} Tap the number on your screen.`, 'If this was not you, tap Deny.']
    : [requested, 'If this was not you, tap Deny.'];
}

/** The platform fetches and caches the URL: it is the same for all phones of a brand. */
function mediaOf(logoUrl: string | null): object | null {
  if (logoUrl === null || logoUrl.length > MAX_URL || !logoUrl.startsWith('https://')) return null;
  return { height: 'SHORT', contentInfo: { fileUrl: logoUrl, forceRefresh: false } };
}

function repliesOf(suggestions: readonly Suggestion[]): readonly object[] {
  if (suggestions.length === 0 || suggestions.length > MAX_SUGGESTIONS) {
    throw new RangeError(`a card has 1 to ${MAX_SUGGESTIONS} buttons, not ${suggestions.length}`);
  }
  return suggestions.map(({ text, postback }) => {
    if (text === '' || text.length > MAX_SUGGESTION_TEXT) throw new RangeError('a button has 1 to 25 characters');
    if (postback === '' || postback.length > MAX_POSTBACK) throw new RangeError('a postback has 1 to 2048 characters');
    return { reply: { text, postbackData: postback } };
  });
}

/** Truncates between characters, never within a surrogate pair. */
function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  let truncated = '';
  for (const character of text) {
    if (truncated.length + character.length > max - 1) break;
    truncated += character;
  }
  return `${truncated}…`;
}
