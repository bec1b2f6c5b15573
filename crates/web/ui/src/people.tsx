// A share of all people as a picture: of a hundred, so many.

/** How many of a hundred: none and all only where it is none and all. */
export function ofHundred(share: number): number {
  if (share <= 0 || share >= 1) return share <= 0 ? 0 : 100;
  return Math.min(99, Math.max(1, Math.round(100 * share)));
}

const ACROSS = 20;

export function People({ share, caption, about }: { share: number; caption: string; about: string }) {
  const found = ofHundred(share);
  const said = share > 0 && share < 0.005 ? "fewer than 1" : `${found}`;
  return (
    <figure class="people">
      <figcaption>{caption}</figcaption>
      <svg viewBox="0 0 200 50" role="img" aria-label={`${caption}: ${said} of 100 people ${about}`}>
        {Array.from({ length: 100 }, (_, i) => {
          const [x, y] = [(i % ACROSS) * 10 + 5, Math.floor(i / ACROSS) * 10 + 5];
          // Who is found differs by form, too.
          return i < found ? <rect x={x - 4} y={y - 4} width={8} height={8} class="found" /> : <circle cx={x} cy={y} r={3} class="among" />;
        })}
      </svg>
      <p>
        <b>{said}</b> of 100 {about}
      </p>
    </figure>
  );
}
