/** What a person's words say of the work before them; null where they say nothing of it. */
export type Word = "thanks" | "complaint";

/** What the person ran stands ahead of the words, and what softens them. */
const COURTESY = /^(?:\$ [\s\S]*\n\n)?(?:(?:ok(?:ay|k+)?|hm+|well|so|and|but|yes|yeah|ah|oh|hey|sorry|please)\b[\s,.!…-]*)*/i;
const THANKS =
  /^(?:thanks?\b|thank you|thx\b|ty\b|cheers\b|perfect\b|excellent\b|awesome\b|amazing\b|great\b|brilliant\b|lovely\b|nice\b|lgtm\b|looks? (?:good|great|perfect)|(?:it|that|this|everything|all)?\s*(?:now )?works?\b(?: now| great| perfectly| fine| well)?[.!]*$|love it|well done|good (?:job|work)|that'?s (?:it|perfect|great)|done[.!]*$)/i;
const COMPLAINT =
  /^(?:no[\s,.!]*$|no,(?! (?:problem|worries|thanks|need))|nope\b|wrong\b|not (?:what i|working|right|correct)|(?:it|that|this|you)(?:'?s| is| are|'re)? (?:is )?(?:wrong|incorrect|not (?:right|working|correct|what))|(?:it|that|this) (?:does ?n[o']?t|did ?n[o']?t|do not|does not|did not) (?:work|help|fix)|(?:it|that|this)?\s*(?:is|'s)?\s*still (?:fail|not|broken|wrong|the same|get|an? |does|happen|see)|still (?:fail|not|broken|error)|revert\b|undo\b|roll ?back\b|take (?:that|it) back|you (?:broke|didn'?t|forgot|ignored|deleted)|why did you\b|i do ?n[o']?t (?:really )?like\b)|\b(?:are|is) still (?:failing|broken|not working|wrong)|\bstill (?:fails|doesn'?t work|not working)\b|\bnothing (?:was|has) changed\b|\bchanges weren'?t made\b/i;

/** Thanks are the whole of what is said: praise before the next request is about what went before. */
const LONGEST_THANKS = 60;
const ASKS = /\?|\b(?:but|now (?:can|please|add|make|do|let)|can you|could you|please|also|next)\b/i;

export function wordOf(text: string): Word | null {
  const said = text.trim().replace(COURTESY, "");
  if (COMPLAINT.test(said.slice(0, 300))) return "complaint";
  return said.length <= LONGEST_THANKS && THANKS.test(said) && !ASKS.test(said) ? "thanks" : null;
}
