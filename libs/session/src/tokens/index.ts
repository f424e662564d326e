export { authEntropy, type EntropyKeys, type EntropySubject } from './auth-entropy.js';
export { fallbackText, fallbackUri } from './fallback-uri.js';
export { findTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from './find-tokens.js';
export { findStraddlingTokens, tokenEdges } from './token-edges.js';
export { deriveToken, TOKEN_ALPHABET, TOKEN_LENGTH, tokenDigest, tokenDigests } from './token.js';
