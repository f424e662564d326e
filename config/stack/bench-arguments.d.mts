export function parseBenchArguments(words: readonly string[]): {
  sections: string[];
  against: string | undefined;
  pairs: number;
  profile: boolean;
};
