r"""What text looks like that speaks to the model instead of telling what happened: RE2 patterns.

One table, in groups by what gives such a text away. None is proof of anything: a match is counted
in the envelope, and the text stays as it is. Patterns see a text as `injection.folded` gives it:
without hidden characters, look-alike letters made Latin, encoded forms decoded behind it.
"""

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
MODEL = (
    r"(?:an?\s+|the\s+|any\s+|all\s+|our\s+)?"
    r"(?:ai|llms?|(?:large\s+)?language\s+models?|ai[\s-]?(?:agents?|assistants?|models?|systems?)"
    r"|copilot|chatbots?|chatgpt|gpt(?:-\d\w*)?|claude|gemini|automated\s+investigators?)\b"
)
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
        rf"\b(?:ignore|disregard|forget)\s+(?:the|these|those|any|all)\s+(?:\w+\s+){{0,2}}?{ORDERS}\s+"
        r"(?:above|before|so\s+far|given|you\b)"
    ),
    (
        r"(?:ignorier\w*|vergiss|vergessen\s+sie|missachte\w*)\s+(?:\w+\s+){0,2}?"
        r"(?:vorherig|vorig|bisherig|obig|fr[uü]her)\w*\s+\w*(?:anweisung|instruktion|befehl|regel)"
    ),
    (
        r"(?:ignor|oubli)\w*\s+(?:\w+\s+){0,2}?(?:instructions|consignes|directives|r[eè]gles)\s+"
        r"(?:pr[ée]c[ée]dent|ant[ée]rieur|ci-dessus)"
    ),
    (
        r"(?:ignor|olvid|omit)\w*\s+(?:\w+\s+){0,3}?(?:instrucciones|indicaciones|[oó]rdenes|reglas)\s+"
        r"(?:anterior|previa|de\s+arriba)"
    ),
    (
        r"(?:ignor|dimentic)\w*\s+(?:\w+\s+){0,2}?(?:istruzioni|indicazioni|regole)\s+"
        r"(?:precedent|sopra)"
    ),
    (
        r"(?:ignor|esque[cç])\w*\s+(?:\w+\s+){0,3}?(?:instru[cç][oõ]es|ordens|regras)\s+"
        r"(?:anterior|acima|pr[ée]via)"
    ),
    (
        r"negeer\s+(?:\w+\s+){0,2}?(?:eerdere|vorige|voorgaande|bovenstaande)\s+"
        r"(?:instructies|opdrachten|regels)"
    ),
    (
        r"(?:zi?gnoruj|zapomnij)\s+(?:o\s+)?(?:\pL+\s+){0,2}?(?:poprzedni|wcze[sś]niejsz)\pL*\s+"
        r"(?:instrukcj|polece)"
    ),
    r"(?:ignoruj|zapome[nň])\pL*\s+(?:\pL+\s+){0,2}?p[rř]edchoz[ií]\pL*\s+(?:pokyn|instrukc)",
    (
        r"(?:игнорир|забуд|отмен)\pL*\s+(?:\pL+\s+){0,2}?(?:предыдущ|прежн|вышеуказанн)\pL*\s+"
        r"(?:инструкц|указан|команд|правил)"
    ),
    r"(?:ігнору|забуд)\pL*\s+(?:\pL+\s+){0,2}?попередн\pL*\s+(?:інструкц|вказівк)",
    r"önceki\s+(?:\pL+\s+){0,2}?(?:talimat|komut|yönerge)\pL*\s+(?:yok\s+say|görmezden|unut|dikkate)",
    r"(?:忽略|忽視|无视|無視|忘记|忘記|不要理会)\S{0,8}(?:指令|指示|说明|說明|提示|规则|規則)",
    r"(?:以前|これまで|上記|前|今まで)の\S{0,6}(?:指示|命令|ルール)\S{0,4}(?:無視|忘れ|従わ)",
    r"이전\S{0,3}\s*(?:모든\s*)?(?:지시|명령|지침)\S{0,4}\s*(?:무시|잊)",
    r"تجاهل\s+(?:\pL+\s+){0,2}?(?:التعليمات|الأوامر)",
    r"(?:पिछले|पूर्व|उपरोक्त)\s+(?:\S+\s+){0,2}?निर्देशों",
)
ROLES = (
    (
        r"(?m)(?:^|[\s\"'>\])|])(?:system|assistant|developer|admin)\s*"
        r"(?:prompt|message|note|override|instructions?|update)?\s*:\s*(?:now\s+|please\s+|then\s+)?"
        r"(?:stop|ignore|you\s+|do\s+not|don't|call\s|close\s|mark\s|reveal|submit|respond|answer\s"
        r"|forget|disregard|conclude|i\s+(?:will|am|have|should)|the\s+root\s+cause)"
    ),
    (
        r"<\|(?:im_start|im_end|system|user|assistant|end(?:of)?text|eot_id|eom_id|start_header_id"
        r"|end_header_id|begin_of_text|channel|message)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    ),
    r"(?m)^#{2,4}\s*(?:system|instructions?|human|assistant)\b\s*:?\s*$",
    r"(?m)^(?:human|assistant|system\s+prompt):\s+\S",
    (
        r"</?\s*(?:system|assistant|tool_results?|tool_use|tool_calls?|function_calls?"
        r"|function_results?|antml:\w+|invoke|system[-_ ](?:prompt|reminder|message)|information"
        r"|important|user_query|admin|data-[0-9a-f]{4,})(?:\s[^>]{0,120})?/?>"
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
        rf"|\b{TOOLS}\W?\s*\("
    ),
)
ADDRESSES = (
    (
        rf"\b(?:attention|dear|hello|hey|hi|note\s+(?:to|for)|message\s+(?:to|for)"
        rf"|instructions?\s+(?:to|for)|important\s+(?:to|for)|warning\s+(?:to|for))\s*[:,!-]?\s*{MODEL}"
    ),
    r"\bif\s+you\s+are\s+(?:an?\s+)?(?:ai|llm|language\s+model|assistant|copilot|bot)\b",
    r"\byou\s+are\s+(?:now\s+(?:an?|the|in|free)|no\s+longer\s+(?:an?|bound|the))\b",
    r"\bfrom\s+now\s+on,?\s+(?:you|always|never|ignore|only|act)\b",
    (
        r"\b(?:new|updated|real|actual|revised|additional)\s+(?:system\s+)?"
        r"(?:instructions?|prompt|task|objective)s?\s*:"
    ),
    r"\byour\s+(?:new|real|actual|true|only)\s+(?:task|instructions?|goal|objective|job|role)\b",
    r"\bthis\s+is\s+an?\s+(?:very\s+)?important\s+(?:message|instruction)",
    rf"\b(?:do\s+not|don't|never)\s+(?:tell|inform|alert|notify|warn|mention\s+\w+\s+to)\s+{PEOPLE}",
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
        r"\b(?:stop|end|abort|conclude|terminate|abandon)\s+(?:the|this|your|all)\s+"
        r"(?:\w+\s+)?investigat(?:ion|ing)"
    ),
    r"\bstop\s+investigating\b|\bno\s+further\s+investigation\s+(?:is\s+)?(?:needed|required|necessary)",
    (
        r"\b(?:report|state|conclude|answer|say|write)\s+(?:only\s+)?that\s+(?:the\s+)?"
        r"(?:root\s+cause|service\s+is\s+healthy|everything\s+is|there\s+is\s+no|nothing)"
    ),
    (
        r"\b(?:set|mark)\s+(?:the\s+|your\s+|this\s+)?(?:verdict|finding|incident|investigation)\s+"
        r"(?:to|as)\b"
    ),
    r"\b(?:do\s+anything\s+now|jail\s?break|dan\s+mode|god\s+mode)\b",
    r"\bas\s+an?\s+(?:ai|llm|language\s+model|ai\s+\w+),?\s+(?:you|i)\b",
    r"\b(?:pretend|imagine)\s+(?:that\s+)?you(?:'re|\s+are)\b",
    (
        r"\b(?:anweisung|hinweis|achtung)\w*\s+(?:an|für)\s+(?:die\s+|den\s+|das\s+)?"
        r"(?:ki|sprachmodell|copilot|assistent\w*)\b|\bdu\s+bist\s+(?:jetzt|ab\s+jetzt|nun)\s+ein"
    ),
    (
        r"\b(?:tu\s+es|vous\s+[êe]tes)\s+(?:maintenant|d[ée]sormais)\s|\b(?:ahora\s+eres|a\s+partir\s+de"
        r"\s+ahora\s+(?:eres|debes|act[uú]a))\b"
    ),
    r"(?:你|您)(?:现在是|現在是|必须|必須|应该忽略)|あなたは(?:今|これ)から|теперь\s+ты\s|ты\s+теперь\s",
)
DISGUISES = (
    r"\b[i1!|]gn[o0]r[e3]\s.{0,24}?pr[e3]v[i1!|][o0]u[s5$]",
    r"\b(?:vtaber|qvfertneq|sbetrg)\s+(?:\w+\s+){0,3}?(?:cerivbhf|cevbe|nobir|lbhe|vafgehpgvbaf)",
    r"\b(?:erongi|snoitcurtsni)\b.{0,40}\b(?:snoitcurtsni|erongi)\b",
)
RULES = (*OVERRIDES, *ROLES, *CALLS, *ADDRESSES, *DISGUISES)
