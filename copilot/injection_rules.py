r"""What text looks like that speaks to the model instead of telling what happened: RE2 patterns.

One table, in groups by what gives such a text away. None is proof of anything: a match is counted
in the envelope, and the text stays as it is. Patterns see a text as `injection.folded` gives it:
without hidden characters, look-alike letters made Latin, encoded forms decoded behind it.
"""

from copilot.injection_languages import OTHER_LANGUAGES

TOOLS = (
    r"(?:submit_report|record_finding|write_notes|propose_ticket_comment|(?:read|query)_scratch)"
)
"""Our tools whose names no runbook has a reason to write; our own notes name them without a verb.
"""
BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|system|original|initial)"
ORDERS = (
    r"(?:instructions?|prompts?|rules|guidelines|directions|directives?|commands?|constraints?"
    r"|orders|policies|training|safety)"
)
MACHINE = (
    r"(?:ai[\s-]?(?:agents?|assistants?|models?|systems?|bots?|tools?|reviewers?|readers?)|ai|llms?"
    r"|(?:large\s+)?language\s+models?|copilot|chatbots?|chatgpt|gpt(?:-\d\w*)?|claude|gemini"
    r"|automated\s+(?:\w+\s+)?(?:investigators?|reviewers?|agents?|assistants?|software|systems))"
)
MODEL = rf"(?:an?\s+|the\s+|any\s+|all\s+|our\s+|every\s+)?{MACHINE}\b"
DO = (
    r"(?:answer|approve|call|close|conclude|copy|delete|do|execute|follow|forget|give|ignore|include"
    r"|list|mark|never|obey|output|print|read|reply|report|respond|reveal|say|search|send|show|skip"
    r"|state|stop|submit|summari[sz]e|tell|treat|use|write)\b"
)
TEXT = r"(?:tickets?|issues?|comments?|notes?|logs?|texts?|lines?|messages?|files?|pages?|alerts?)"
PEOPLE = r"(?:the\s+)?(?:users?|operators?|humans?|anyone|anybody|on-?call|your\s+developers?)"

OVERRIDES = (
    (
        rf"\b(?:ignore|disregard|forget|override|bypass|drop|discard)\s+(?:\w+\s+){{0,4}}?{BEFORE}\s+"
        rf"(?:\w+\s+){{0,2}}?{ORDERS}"
    ),
    (
        rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+)?(?:of\s+)?your\s+"
        rf"(?:\w+\s+){{0,3}}?{ORDERS}"
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what(?:ever)?)\s+"
        r"(?:\w+\s+){0,3}?(?:above|before|told|said|earlier|so\s+far)\b"
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?(?:the\s+)?(?:above|foregoing|preceding)\s+"
        rf"(?:and|then|but)\s+(?:just\s+|instead\s+|only\s+)?{DO}"
    ),
    (
        r"\b(?:ignore|disregard)\s+(?:\w+\s+){0,6}?\w+,?\s+and\s+(?:(?:just|only|instead)\s+"
        r"(?:print|say|output|write|reply|respond|answer|report)\b|(?:print|say|output|write)\s*[:'\"“])"
    ),
    (
        r"\b(?:anything|everything|all|whatever)\s+(?:that\s+)?you\s+(?:have\s+been|had\s+been|were|are)\s+"
        r"(?:\w+\s+)?(?:told|instructed)\b"
    ),
    (
        rf"\b(?:do\s+not|don't|never)\s+(?:follow|obey|apply)\s+(?:the\s+|any\s+|your\s+)?(?:\w+\s+){{0,2}}?"
        rf"{ORDERS}\s+(?:in|of|from|given\s+by)\s+(?:your|the\s+(?:system|operator|developer))\b"
    ),
    (
        rf"\b{ORDERS}\s+(?:that\s+(?:were|was)\s+)?(?:given|shown|sent)\s+to\s+(?:you|{MODEL})"
        rf"|\b(?:follow|obey)\s+(?:only\s+)?(?:these|mine|my\s+\w+)\s+instead\b|\bobey\s+only\b"
    ),
    (
        r"\b(?:drop|abandon|change|replace|forget)\s+your\s+(?:\w+\s+)?"
        r"(?:goals?|objectives?|mission|purpose|assignment)\b"
        r"|\byour\s+(?:\w+\s+)?(?:goal|objective|mission|assignment)\s+(?:is|has|was)\s+(?:now\s+)?"
        r"(?:over|changed|cancell?ed|void)\b"
    ),
    (
        rf"\b(?:ignore|disregard|forget)\s+(?:the|these|those|any|all)\s+(?:\w+\s+){{0,2}}?{ORDERS}\s+"
        r"(?:above|before|so\s+far|given|you\b)"
    ),
)
ROLES = (
    (
        r"(?m)(?:^|[\s\"'>\])|])(?:system|assistant|developer|admin)\s*"
        r"(?:prompt|message|note|override|instructions?|update)?\s*:\s*(?:now\s+|please\s+|then\s+)?"
        r"(?:stop|ignore|you\s+|do\s+not|don't|call\s|close\s|mark\s|reveal|submit|respond|answer\s"
        r"|forget|disregard|conclude|focus\s|provide\s|treat\s|i\s+(?:will|am|have|should)|the\s+root\s+cause)"
    ),
    (
        r"<\|(?:im_start|im_end|system|user|assistant|end(?:of)?text|eot_id|eom_id|start_header_id"
        r"|end_header_id|begin_of_text|channel|message)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    ),
    r"(?m)^#{2,4}\s*(?:system|instructions?|human|assistant)\b\s*:?\s*$",
    (
        r"\n\s*\n(?:human|assistant):\s+\S|(?m)^system\s+prompt:\s+\S"
        r"|(?m)^(?:human|user):[^\n]*\n+(?:assistant|ai):\s"
        r"|(?m)^(?:assistant|ai):[^\n]*\n+(?:human|user):\s"
        rf"|(?m)^(?:human|assistant):\s+(?:(?:please|now|ok|thanks?|sure)\b|{DO}\s+(?:the|this|your|all|me)\b)"
    ),
    r'"role\\*"\s*:\s*\\*"(?:system|user|assistant|developer|tool)\\*"\s*,\s*\\*"content\\*"\s*:',
    (
        r"\b(?:system|developer|admin(?:istrator)?)\s*:\s*new\s+(?:rules?|polic(?:y|ies))\b"
        r"|\bsystem\s+override\b"
    ),
    (
        r"</?\s*(?:system|assistant|tool_results?|tool_use|tool_calls?|function_calls?"
        r"|function_results?|antml:\w+|invoke|system[-_ ](?:prompt|reminder|message)|information"
        r"|important|user_query|admin|data-[0-9a-f]{4,}"
        r"|(?:un)?trusted[-_ ](?:content|data|input|text|output))(?:\s[^>]{0,120})?/?>"
    ),
    (
        r"\bend\s+of\s+(?:the\s+)?(?:untrusted|external|quoted)\s+(?:data|content|text|input|output)\b"
        r"|\b(?:following|above|below)\b.{0,40}?\b(?:from|by)\s+"
        r"(?:your\s+(?:operator|user|developers?|system)|the\s+(?:operator|developers?))\s*[:;]"
        r"|\b(?:followed|treated|taken|read)\s+as\s+(?:an?\s+|your\s+)?(?:instructions?|commands?|orders?)\b"
    ),
    (
        r"[-=*#<\[]{2,}\s*(?:end|close)\s+(?:of\s+)?(?:the\s+)?(?:untrusted\s+)?"
        r"(?:data|logs?|log\s+output|tool\s+(?:results?|output)|documents?|context|quoted\s+text)\b"
    ),
)
CALLS = (
    r'"type\\*"\s*:\s*\\*"(?:tool_use|tool_result|function_call)\\*"',
    r'"(?:tool_calls|function_call|tool_use_id)\\*"\s*:',
    (
        rf"\b(?:call|calling|use|using|run|invoke|execute|via|with)\s+(?:the\s+)?(?:tool\s+)?\W?{TOOLS}\b"
        rf"|\b{TOOLS}\W?\s*[(\[]|^```tool_(?:code|call|output)"
    ),
    r"\bobservation:[^\n]*\n\s*(?:thought:[^\n]*\n\s*)?action:|\bthought:[^\n]*\n\s*action:",
    (
        r"\b(?:cite|trust|quote|use)\s+(?:only\s+)?(?:this\s+line|R\d{4}(?::\d+)?|references?\s+written)\b"
        r"|\bcopy\s+the\s+following\s+(?:line|sentence|text|words)\b|\bas\s+your\s+only\s+\w+"
        r"|\b(?:do(?:es)?\s+not|don't|no\s+need\s+to)\s+(?:have\s+to\s+|need\s+to\s+)?"
        r"(?:verify|check|read|open)\s+(?:it\s+again|R\d{4}|the\s+references?)\b|\byour\s+own\s+notes\b"
    ),
)
ADDRESSES = (
    (
        rf"\b(?:attention|dear|hello|hey|hi|note\s+(?:to|for)|message\s+(?:to|for)"
        rf"|instructions?\s+(?:to|for)|important\s+(?:to|for)|warning\s+(?:to|for))\s*[:,!-]?\s*"
        rf"(?:{MODEL}|(?:the\s+|my\s+)?(?:assistant|bot|robot)\b)|(?:^|\s)@(?:copilot|claude|chatgpt|gemini|ai)\b"
    ),
    (
        rf"\b{MACHINE}\s+(?:(?:that|who|which)\s+(?:is\s+|are\s+)?)?\w+(?:s|ing)\s+(?:this|these)\s+(?:\w+\s+)?{TEXT}\b"
        r"|\b(?:agents?|assistants?|bots?|models?)\s+(?:that|who|which)\s+(?:reads?|process\w*|analy[sz]es?"
        r"|triages?|summari[sz]es?|sees?)\s+(?:this|these)\b|\byou,?\s+(?:the|an)\s+"
        rf"{MACHINE}\b"
    ),
    (
        rf"\b(?:{MACHINE}|assistant)\s*[:,]\s*(?:please\s+|now\s+|you\s+(?:must|should|may)\s+)?{DO}"
        rf"|\b(?:the|any|every)\s+(?:assistant|{MACHINE})\s+(?:must|should|shall|has\s+to|is\s+to|may)\s+"
        rf"(?:now\s+|not\s+|never\s+|always\s+|only\s+|also\s+)*{DO}"
    ),
    (
        r"\b(?:ai|assistant|model|engineer|expert|chatbot)\s+(?:with\s+no|without(?:\s+any)?)\s+"
        r"(?:restrictions|filters|rules|guidelines|ethics|limits)\b"
        r"|\bdisable\s+(?:the\s+|your\s+|all\s+)?(?:content\s+policy|safety\s+\w+|guardrails?|safeguards)\b"
    ),
    (
        r"\bfrom\s+(?:this\s+point|here|now)\s*(?:on(?:wards?)?)?,?\s+(?:the\s+)?"
        r"(?:assistant|agent|model|ai|copilot)\s+(?:must|shall|obeys?|answers?)\b"
    ),
    (
        r"\bwhen\s+(?:you\s+are\s+)?(?:summari[sz]ing|triaging)\s+(?:this|these)\b|\bi\s+hereby\s+\w+\s+you\b"
        r"|\bpretend\s+that\s+(?:the|there|nothing|everything)\b"
    ),
    (
        r"\byour\s+(?:(?:hidden|initial|secret|original)\s+)?(?:system\s+(?:prompt|message|instructions?)"
        r"|(?:hidden|initial|secret|original)\s+(?:prompt|instructions))\b"
        r"|\b(?:repeat|print|output|recite|echo)\s+(?:\w+\s+){0,2}?(?:text|words|everything|all)\s+above\b"
    ),
    (
        r"https?://\S*[?&/]\w*=?[{<\[][^}>\]]{0,60}?(?:secret|prompt|conversation|chat|system|context|instruction)"
        r"|\bcontents?\s+of\s+your\s+(?:notes|context|conversation|prompt|memory)\b"
        r"|\b(?:encode|base64)\b.{0,80}\b(?:and|then)\s+(?:search|query|look\s+up|append)\b"
    ),
    r"\bif\s+you\s+are\s+(?:an?\s+)?(?:ai|llm|language\s+model|assistant|copilot|bot)\b",
    r"\byou\s+are\s+(?:now\s+(?:an?|the|in|free)|no\s+longer\s+(?:an?|bound|the))\b",
    r"\bfrom\s+now\s+on,?\s+(?:you|always|never|ignore|only|act)\b",
    (
        r"\b(?:new|updated|real|actual|revised|additional)\s+(?:system\s+)?"
        rf"(?:(?:instructions?|prompt|objective)s?\s*:|tasks?\s*:\s*{DO})"
    ),
    r"\byour\s+(?:new|real|actual|true|only)\s+(?:task|instructions?|goal|objective|job|role)\b",
    r"\bthis\s+is\s+an?\s+(?:very\s+)?important\s+(?:message|instruction)",
    (
        rf"\b(?:do\s+not|don't|never)\s+(?:tell|inform|alert|notify|warn|mention\s+\w+\s+to)\s+{PEOPLE}"
        r"\s*(?:about|of|that|this|anything|[.,;!\n]|$)"
    ),
    rf"\bwithout\s+(?:telling|informing|alerting|notifying|asking)\s+{PEOPLE}",
    (
        r"\b(?:reveal|print|show|output|repeat|leak|send|display|dump)\s+(?:me\s+)?(?:your|the)\s+"
        r"(?:\w+\s+)?(?:system\s+prompt|hidden\s+prompt|initial\s+(?:prompt|instructions)|prompt\s+above)"
    ),
    (
        r"\byou\s+(?:must|should|shall|have\s+to|need\s+to)\s+(?:now\s+|first\s+|always\s+|only\s+)?"
        r"(?:call\s+the\s+tool|ignore|report\s+that|submit|respond|answer|reply|output|say\s|conclude)"
    ),
    (
        r"\b(?:reply|respond|answer)\s+(?:with\s+(?:only|just|exactly|nothing)|exactly\s+with)\b"
        r"|\b(?:just|simply|only)\s+(?:reply|respond|answer)\s+(?:with\s+|exactly\s+)?[:'\"“]"
        r"|\b(?:if|when)\s+(?:you\s+are\s+)?(?:asked|questioned)\b.{0,60}?,\s*(?:simply\s+|only\s+|just\s+)?"
        r"(?:say|report|state|respond|claim|conclude)\b"
    ),
    (
        r"\buse\s+the\s+tool\b.{0,60}?\barguments?\b"
        r"|\b(?:invisible|hidden|not\s+visible)\s+(?:to|from)\s+(?:humans?|people|the\s+user)\b"
    ),
    (
        r"\b(?:stop|end|abort|conclude|terminate|abandon)\s+(?:the|this|your|all)\s+"
        r"(?:\w+\s+)?investigat(?:ion|ing)"
    ),
    r"\bstop\s+investigating\s*(?:[.,;!\n]|and\b|this\b|here\b|now\b|$)|\bno\s+further\s+investigation\s+(?:is\s+)?(?:needed|required|necessary)",
    (
        r"\b(?:report|state|conclude|answer|say|write)\s+(?:only\s+)?that\s+(?:the\s+)?"
        r"(?:root\s+cause|service\s+is\s+healthy|everything\s+is|there\s+is\s+no|nothing)"
    ),
    (
        r"\b(?:set|mark)\s+(?:the\s+|your\s+|this\s+)?(?:verdict|finding|incident|investigation)\s+"
        r"(?:to|as)\b"
    ),
    r"\b(?:do\s+anything\s+now|jail\s?broken\s+(?:ai|model|assistant)|dan\s+mode|god\s+mode)\b",
    r"\bas\s+an?\s+(?:ai|llm|language\s+model|ai\s+\w+),?\s+(?:you|i)\b",
    r"\b(?:pretend|imagine)\s+(?:that\s+)?you(?:'re|\s+are)\b",
)
DISGUISES = (
    r"(?:\b1gn[o0]r[e3]|\bign0r[e3]|\bignor3|[!|]gn[o0]r[e3])\s.{0,24}?pr[e3]v[i1!|][o0]u[s5$]",
    r"\bignore\s.{0,24}?\b(?:pr3v\w+|prev[1!|]\w+|previ0\w+|previou[5$])",
    r"\b(?:vtaber|qvfertneq|sbetrg)\s+(?:\w+\s+){0,3}?(?:cerivbhf|cevbe|nobir|lbhe|vafgehpgvbaf)",
    r"\b(?:erongi|snoitcurtsni)\b.{0,40}\b(?:snoitcurtsni|erongi)\b",
)
GAP = r"[\s+_.-]+"
"""What may stand between two words: addresses and names have signs there instead of blanks."""
RULES = (
    *(rule.replace(r"\s+", GAP) for rule in OVERRIDES),
    *ROLES,
    *CALLS,
    *ADDRESSES,
    *OTHER_LANGUAGES,
    *DISGUISES,
)
